#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack {

std::vector<std::string> split(std::string_view text, char separator);
std::string join(std::span<const std::string> parts, std::string_view separator);
/// Returns `text` without ASCII white space at the ends.
std::string_view trim(std::string_view text);
/// Returns `text`, or nothing if it is empty.
std::optional<std::string> non_empty(std::string text);
/// ASCII only.
std::string to_lower(std::string_view text);
/// ASCII only.
std::string to_upper(std::string_view text);

/// For ASCII, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// True if all of `text` are ASCII letters, digits, or one of `signs`; also true for an empty text.
bool is_alphanumeric(std::string_view text, std::string_view signs = {});
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Returns the optimal string alignment distance: insertions, deletions, substitutions, swaps of
/// neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// Returns the candidate nearest to `name` within distance 2, or within a third of its length if
/// that is more; nothing if none is near.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// Returns `text` as one word of a POSIX shell, quoted only if necessary.
std::string shell_quote(std::string_view text);
/// Returns `text` in double quotes, with a backslash before each double quote and backslash.
std::string double_quoted(std::string_view text);
/// Returns `1.5 MB`, `12 kB`, `17 B`; decimal units.
std::string human_size(std::uint64_t bytes);
/// Returns the length of the UTF-8 sequence at the start of `text`; 0 if it is not valid.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
/// Returns `text` with `\xNN` for bytes that would disturb a terminal (control characters, invalid
/// UTF-8).
std::string printable(std::string_view text);

/// Returns two lower-case hexadecimal digits for each byte.
std::string hexadecimal(std::string_view bytes);
/// The same, written to `out`, which must have room for it.
void write_hexadecimal(std::string_view bytes, char* out);
std::string base64_encode(std::string_view bytes);
/// Uses the URL alphabet without padding (RFC 4648 section 5), as JWTs require.
std::string base64url_encode(std::string_view bytes);
/// Accepts both alphabets, with or without padding; returns nothing if `text` is not base64.
std::optional<std::string> base64_decode(std::string_view text);

/// Returns a unified diff with three lines of context, after `--- name_a` and `+++ name_b`; empty
/// if both are equal.
std::string unified_diff(std::string_view a,
                         std::string_view b,
                         std::string_view name_a,
                         std::string_view name_b);

}  // namespace autopack
