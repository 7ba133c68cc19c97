#pragma once

#include "source/secret_rules.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

/// What the rules of secrets are made of.
namespace autopack::source {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

constexpr bool is_alphanumeric(char c) {
  return is_digit(c) || is_upper(c) || (c >= 'a' && c <= 'z');
}

constexpr bool is_word(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-';
}

constexpr bool is_base64(char c) {
  return is_alphanumeric(c) || c == '+' || c == '/' || c == '=';
}

constexpr bool is_upper_or_digit(char c) {
  return is_upper(c) || is_digit(c);
}

using CharacterClass = bool (*)(char);

/// The characters of a class that stand from `at` on, at most a window of them.
std::string_view run_of(std::string_view text, std::size_t at, CharacterClass in_class);

/// A token: `prefix` characters of the anchor, then `least` to `most` of a class, and nothing of a
/// word on either side.
std::optional<SecretMatch> token(std::string_view text,
                                 std::size_t at,
                                 std::string_view kind,
                                 std::size_t prefix,
                                 CharacterClass in_class,
                                 std::size_t least,
                                 std::size_t most);

/// Where the value of `name = "value"`, `"name": "value"` or `name: value` begins, seen from the
/// end of the name; npos when no value follows on the line.
std::size_t value_after(std::string_view text, std::size_t at);

/// What stands around `at`, as far as a rule may look.
std::string_view around(std::string_view text, std::size_t at);

}  // namespace autopack::source
