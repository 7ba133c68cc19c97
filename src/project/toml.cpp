#include "project/toml.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace autopack::project {

namespace {

constexpr std::size_t most_key_parts{32};

/// Returns the position after the string that begins at `at`.
std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view three = quote == '"' ? R"(""")" : "'''";
  const bool is_long = text.substr(at).starts_with(three);
  for (at += is_long ? 3 : 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (is_long && text.substr(at).starts_with(three)) {
      return at + 3;
    } else if (!is_long && (text[at] == quote || text[at] == '\n')) {
      return at + 1;
    }
  }
  return text.size();
}

/// Returns the line of the first key with too many parts. Dots outside of strings and comments are
/// in keys, except those in a number or a time.
std::optional<std::size_t> line_of_long_key(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      at = string_end(text, at);
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '.' && ++dots >= most_key_parts) {
      return static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
             1;
    }
    if (std::string_view{"=,[]{}\n"}.find(c) != std::string_view::npos) {
      dots = 0;
    }
    ++at;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const std::string& why, std::size_t line) {
  throw toml::parse_error{why.c_str(), toml::source_position{static_cast<toml::source_index>(line),
                                                             toml::source_index{1}}};
}

}  // namespace

toml::table parse_toml(std::string_view text, std::size_t largest) {
  if (text.size() > largest) {
    refuse("it is larger than " + std::to_string(largest >> 20U) + " MiB", 1);
  }
  if (const auto line = line_of_long_key(text)) {
    refuse("a key has more than 32 parts", *line);
  }
  return toml::parse(text);
}

std::vector<std::string> strings_of(const toml::node_view<const toml::node>& value) {
  std::vector<std::string> strings;
  if (const auto text = value.value<std::string>()) {
    strings.push_back(*text);
  }
  if (const auto* const array = value.as_array()) {
    for (const auto& item : *array) {
      if (auto text = item.value<std::string>()) {
        strings.push_back(std::move(*text));
      }
    }
  }
  return strings;
}

}  // namespace autopack::project
