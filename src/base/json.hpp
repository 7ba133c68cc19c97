#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>

// nlohmann's class, parser and writer are compiled once, in json.cpp: each costs seconds in every
// file that uses it.
extern template class nlohmann::basic_json<>;

namespace autopack {

/// A discarded value (`is_discarded()`) when `text` is not one JSON document, or nested too deep.
nlohmann::json parse_json(std::string_view text);
/// Told each event of a parse with its depth (the document's own is 0); what it refuses is left out
/// of the result. See nlohmann::json::parser_callback_t.
using JsonFilter =
    std::function<bool(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value)>;
/// The same, for what is too long to be held as a whole.
nlohmann::json parse_json(std::string_view text, const JsonFilter& filter);
/// One line. Error(project) when a text in it is not UTF-8.
std::string write_json(const nlohmann::json& value);
/// The same, keys in the order they were added.
std::string write_json(const nlohmann::ordered_json& value);
/// For a reader's eyes: bytes that are not UTF-8 become U+FFFD. `indent` in spaces; on one line
/// when negative.
std::string print_json(const nlohmann::json& value, int indent = -1);
/// The text at `key`; empty when `object` is no object or has no text there.
std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace autopack
