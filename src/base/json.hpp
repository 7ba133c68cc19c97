#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <string_view>

// json.cpp compiles nlohmann's class, parser and writer once: they cost seconds in every file that
// instantiates them.
extern template class nlohmann::basic_json<>;

namespace autopack {

/// Returns a discarded value (`is_discarded()`) if `text` is not one JSON document or is nested too
/// deeply.
nlohmann::json parse_json(std::string_view text);
/// Called for each event of a parse with its depth (0 for the document). If it returns false, the
/// value is left out of the result. See nlohmann::json::parser_callback_t.
using JsonFilter =
    std::function<bool(int depth, nlohmann::json::parse_event_t event, nlohmann::json& value)>;
/// The same, for documents that are too large to keep in memory.
nlohmann::json parse_json(std::string_view text, const JsonFilter& filter);
/// Returns one line. Throws Error(project) if a string in it is not UTF-8.
std::string write_json(const nlohmann::json& value);
/// The same, with the keys in insertion order.
std::string write_json(const nlohmann::ordered_json& value);
/// Returns a text for people: bytes that are not UTF-8 become U+FFFD. `indent` counts spaces; if it
/// is negative, the result is one line.
std::string print_json(const nlohmann::json& value, int indent = -1);
/// Returns the string at `key`; empty if `object` is not an object or has no string there.
std::string text_at(const nlohmann::json& object, const char* key);

}  // namespace autopack
