#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace autopack::index {

/// Attributes of a tag: names in lower case, values without character references. Of a repeated
/// name, the last value counts, as in pip.
using Attributes = std::map<std::string, std::string, std::less<>>;

/// Calls `visit` for each start tag of an HTML text, in order, with its name in lower case. Skips
/// text, comments, scripts and styles; an unterminated comment or tag hides the rest. Takes linear
/// time.
void read_tags(std::string_view html,
               const std::function<void(const std::string& name, const Attributes&)>& visit);

/// Returns `text` with character references such as `&amp;` and `&#38;` replaced: all numeric ones,
/// and the named ones that servers write into URLs and conditions.
std::string without_references(std::string_view text);

}  // namespace autopack::index
