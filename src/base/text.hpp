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
/// `text` without ASCII white space at both ends.
std::string_view trim(std::string_view text);
/// `text`; none when it is empty.
std::optional<std::string> non_empty(std::string text);
/// ASCII only.
std::string to_lower(std::string_view text);
/// ASCII only.
std::string to_upper(std::string_view text);

/// ASCII only, whatever the locale.
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// True when all of `text` are ASCII letters, digits, or one of `signs`; also of an empty one.
bool is_alphanumeric(std::string_view text, std::string_view signs = {});
std::string replace_all(std::string text, std::string_view from, std::string_view to);

/// Optimal string alignment distance: insertions, deletions, substitutions, neighbouring swaps.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `name` within distance 2, or for longer names a third of its length;
/// none when nothing is near.
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates);

/// `text` as one word of a POSIX shell, quoted only when it must be.
std::string shell_quote(std::string_view text);
/// `text` in double quotes, with a backslash before each of those and each backslash in it.
std::string double_quoted(std::string_view text);
/// `1.5 MB`, `12 kB`, `17 B`; decimal units.
std::string human_size(std::uint64_t bytes);
/// Length of the UTF-8 sequence at the start of `text`; 0 when there is no valid one.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);
/// Bytes that would disturb a terminal (control characters, invalid UTF-8) written as `\xNN`.
std::string printable(std::string_view text);

/// Two lower-case hexadecimal digits for each byte.
std::string hexadecimal(std::string_view bytes);
/// The same, written to `out`, which has room for it.
void write_hexadecimal(std::string_view bytes, char* out);
std::string base64_encode(std::string_view bytes);
/// URL alphabet without padding (RFC 4648 section 5), as JWTs want.
std::string base64url_encode(std::string_view bytes);
/// Accepts both alphabets, with or without padding; none when `text` is not base64.
std::optional<std::string> base64_decode(std::string_view text);

/// Unified diff with three lines of context, `--- name_a` and `+++ name_b` first; empty when equal.
std::string unified_diff(std::string_view a,
                         std::string_view b,
                         std::string_view name_a,
                         std::string_view name_b);

}  // namespace autopack
