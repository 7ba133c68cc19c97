#include "base/text.hpp"

#include "base/contains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>

namespace autopack {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view trim(std::string_view text) {
  static constexpr std::string_view space = " \t\r\n\f\v";
  const auto begin = text.find_first_not_of(space);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

std::optional<std::string> non_empty(std::string text) {
  return text.empty() ? std::nullopt : std::optional{std::move(text)};
}

std::string to_lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return result;
}

std::string to_upper(std::string_view text) {
  std::string result{text};
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 'a' + 'A');
    }
  }
  return result;
}

bool is_alphanumeric(std::string_view text, std::string_view signs) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  });
}

std::string hexadecimal(std::string_view bytes) {
  std::string text(bytes.size() * 2, '\0');
  write_hexadecimal(bytes, text.data());
  return text;
}

void write_hexadecimal(std::string_view bytes, char* out) {
  static constexpr auto pairs = [] {
    constexpr std::string_view digits{"0123456789abcdef"};
    std::array<std::array<char, 2>, 256> table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
      table.at(byte) = {digits[byte / 16], digits[byte % 16]};
    }
    return table;
  }();
  for (const char c : bytes) {
    std::memcpy(out, pairs[static_cast<unsigned char>(c)].data(), 2);
    out += 2;
  }
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; !from.empty() && (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> rows((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return rows[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    at(i, 0) = i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    at(0, j) = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      at(i, j) = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
      }
    }
  }
  return at(a.size(), b.size());
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > 200) {
    return std::nullopt;
  }
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::optional<std::string> result;
  for (const auto& candidate : candidates) {
    const std::size_t distance = edit_distance(to_lower(name), to_lower(candidate));
    if (distance < best && distance < candidate.size()) {
      best = distance;
      result = candidate;
    }
  }
  return result;
}

std::string double_quoted(std::string_view text) {
  return "\"" + replace_all(replace_all(std::string{text}, R"(\)", R"(\\)"), R"(")", R"(\")") +
         "\"";
}

std::string shell_quote(std::string_view text) {
  static constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
    return std::string{text};
  }
  return "'" + replace_all(std::string{text}, "'", "'\"'\"'") + "'";
}

std::string human_size(std::uint64_t bytes) {
  static constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 || value >= 99.95 ? fmt::format("{:.0f} {}", value, units.at(unit))
                                     : fmt::format("{:.1f} {}", value, units.at(unit));
}

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = text.empty() ? 0xFF : byte(0);
  const std::size_t length = first < 0x80             ? 1
                             : first >> 5U == 0b110   ? 2
                             : first >> 4U == 0b1110  ? 3
                             : first >> 3U == 0b11110 ? 4
                                                      : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6U != 0b10) {
      return 0;
    }
  }
  const bool overlong = (length == 2 && first < 0xC2) || (first == 0xE0 && byte(1) < 0xA0) ||
                        (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate_or_beyond =
      (first == 0xED && byte(1) > 0x9F) || first > 0xF4 || (first == 0xF4 && byte(1) > 0x8F);
  return overlong || surrogate_or_beyond ? 0 : length;
}

namespace {

/// Characters that display a text in another order or on another line: the Unicode property
/// Bidi_Control, line and paragraph separators, and invisible marks.
bool misleads(std::string_view character) {
  // NOLINTBEGIN(misc-misleading-bidirectional): written as escapes, they mislead nobody.
  static constexpr std::array<std::string_view, 18> characters{
      "\u061C", "\u180E", "\u200B", "\u200E", "\u200F", "\u2028", "\u2029", "\u202A", "\u202B",
      "\u202C", "\u202D", "\u202E", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\uFEFF"};
  // NOLINTEND(misc-misleading-bidirectional)
  return character.size() > 1 && character.size() < 4 && contains(characters, character);
}

std::string escaped(std::string_view bytes) {
  std::string result;
  for (const char c : bytes) {
    result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<unsigned char>(text[0]);
    if (misleads(text.substr(0, length))) {
      result += escaped(text.substr(0, length));
      text.remove_prefix(length);
      continue;
    }
    const bool c1_control =
        length == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0 || c1_control || (length == 1 && (first < 0x20 || first == 0x7F))) {
      result += fmt::format("\\x{:02x}", first);
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

}  // namespace autopack
