#include "base/misleading.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack {

namespace {

/// For a character of two or three bytes.
unsigned code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]) & 0x3FU; };
  return character.size() == 2 ? (byte(0) & 0x1FU) << 6U | byte(1)
                               : (byte(0) & 0x0FU) << 12U | byte(1) << 6U | byte(2);
}

}  // namespace

std::string escape_misleading(std::string_view text, std::string_view prefix) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<signed char>(c) >= 0; })) {
    return std::string{text};
  }
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto character = text.substr(0, length == 0 ? 1 : length);
    const bool is_shown_as_written = length < 2 || length > 3 || printable(character) == character;
    if (is_shown_as_written) {
      result += character;
    } else {
      result += fmt::format("{}{:04x}", prefix, code_point(character));
    }
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace autopack
