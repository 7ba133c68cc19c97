#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace autopack::index {

/// Attributes of a tag: names in lower case, values with their character references replaced; of
/// one name the last counts, as pip has it.
using Attributes = std::map<std::string, std::string, std::less<>>;

/// Calls `visit` for each start tag of an HTML text, in order, with its name in lower case. Text,
/// comments, scripts and styles are passed over; a comment or tag that does not end hides the rest.
/// Takes time linear in the text.
void read_tags(std::string_view html,
               const std::function<void(const std::string& name, const Attributes&)>& visit);

/// `text` with the references `&amp;`, `&#38;` and the like replaced: those by number, and by name
/// those that servers write into URLs and conditions.
std::string without_references(std::string_view text);

}  // namespace autopack::index
