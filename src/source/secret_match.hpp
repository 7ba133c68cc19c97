#pragma once

#include "base/text.hpp"
#include "source/secret_rules.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

/// Building blocks for the rules of secrets.
namespace autopack::source {

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

/// Returns the longest run of characters of a class that begins at `at`, limited to a window.
std::string_view run_of(std::string_view text, std::size_t at, CharacterClass in_class);

/// Matches a token that begins at `at`: `prefix` characters, then those of the rule, with no word
/// character on either side.
std::optional<SecretMatch> token_at(const SecretRule& rule,
                                    std::string_view text,
                                    std::size_t at,
                                    std::size_t prefix);

/// Matches a token that begins with the anchor.
std::optional<SecretMatch> token(const SecretRule& rule, std::string_view text, std::size_t at);

/// Returns where the value of `name = "value"`, `"name": "value"` or `name: value` begins, from the
/// end of the name; npos if no value follows on the line.
std::size_t value_after(std::string_view text, std::size_t at);

/// Returns the value of the name in the anchor, as far as the rule's alphabet allows; empty without
/// one.
std::string_view value_of(const SecretRule& rule, std::string_view text, std::size_t at);

/// Returns the text around `at`, as far as a rule may look.
std::string_view around(std::string_view text, std::size_t at);

/// Matches a login in the URL of a package index or of a repository; the anchor ends with its
/// `://`.
std::optional<SecretMatch> login_in_url(const SecretRule& rule,
                                        std::string_view text,
                                        std::size_t at);

/// Matches a private key in PEM; the anchor is in its first line.
std::optional<SecretMatch> pem_key(const SecretRule& rule, std::string_view text, std::size_t at);

}  // namespace autopack::source
