#pragma once

#include "base/text.hpp"
#include "source/secret_rules.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

/// What the rules of secrets are made of.
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

/// The characters of a class that stand from `at` on, at most a window of them.
std::string_view run_of(std::string_view text, std::size_t at, CharacterClass in_class);

/// A token that begins at `at`: `prefix` characters, then what the rule says, and nothing of a word
/// on either side.
std::optional<SecretMatch> token_at(const SecretRule& rule,
                                    std::string_view text,
                                    std::size_t at,
                                    std::size_t prefix);

/// A token that begins with the anchor.
std::optional<SecretMatch> token(const SecretRule& rule, std::string_view text, std::size_t at);

/// Where the value of `name = "value"`, `"name": "value"` or `name: value` begins, seen from the
/// end of the name; npos when no value follows on the line.
std::size_t value_after(std::string_view text, std::size_t at);

/// The value of the name that is the anchor, as far as the rule's alphabet goes; empty without one.
std::string_view value_of(const SecretRule& rule, std::string_view text, std::size_t at);

/// What stands around `at`, as far as a rule may look.
std::string_view around(std::string_view text, std::size_t at);

/// A login in the URL of a package index or of a repository, whose `://` the anchor ends with.
std::optional<SecretMatch> login_in_url(const SecretRule& rule,
                                        std::string_view text,
                                        std::size_t at);

/// A private key in PEM, whose first line the anchor stands in.
std::optional<SecretMatch> pem_key(const SecretRule& rule, std::string_view text, std::size_t at);

}  // namespace autopack::source
