#include "source/character.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <utility>

namespace autopack::source {

namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr char32_t last_code_point = 0x10FFFF;

}  // namespace

bool CharacterSet::contains(char32_t character) const {
  return negated != std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
           return range.low <= character && character <= range.high;
         });
}

std::optional<CharacterSet> perl_class(char32_t letter) {
  switch (letter) {
    case U'd': return CharacterSet{.ranges = {{U'0', U'9'}}};
    case U's': return CharacterSet{.ranges = {{U'\t', U'\n'}, {U'\f', U'\r'}, {U' ', U' '}}};
    case U'w':
      return CharacterSet{.ranges = {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}}};
    default: return std::nullopt;
  }
}

std::optional<CharacterSet> posix_class(std::string_view name) {
  using Ranges = std::vector<CharacterSet::Range>;
  static const std::vector<std::pair<std::string_view, Ranges>> classes{
      {"alnum", {{U'0', U'9'}, {U'A', U'Z'}, {U'a', U'z'}}},
      {"alpha", {{U'A', U'Z'}, {U'a', U'z'}}},
      {"ascii", {{0, 0x7F}}},
      {"blank", {{U'\t', U'\t'}, {U' ', U' '}}},
      {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
      {"digit", {{U'0', U'9'}}},
      {"graph", {{U'!', U'~'}}},
      {"lower", {{U'a', U'z'}}},
      {"print", {{U' ', U'~'}}},
      {"punct", {{U'!', U'/'}, {U':', U'@'}, {U'[', U'`'}, {U'{', U'~'}}},
      {"space", {{U'\t', U'\r'}, {U' ', U' '}}},
      {"upper", {{U'A', U'Z'}}},
      {"word", {{U'0', U'9'}, {U'A', U'Z'}, {U'_', U'_'}, {U'a', U'z'}}},
      {"xdigit", {{U'0', U'9'}, {U'A', U'F'}, {U'a', U'f'}}},
  };
  const bool negated = name.starts_with('^');
  name.remove_prefix(negated ? 1 : 0);
  const auto found = std::find_if(classes.begin(), classes.end(),
                                  [&](const auto& known) { return known.first == name; });
  return found == classes.end() ? std::nullopt
                                : std::optional{CharacterSet{found->second, negated}};
}

CharacterSet complement(CharacterSet set) {
  std::sort(set.ranges.begin(), set.ranges.end(),
            [](const auto& a, const auto& b) { return a.low < b.low; });
  CharacterSet result;
  char32_t next = 0;
  for (const auto& range : set.ranges) {
    if (range.low > next) {
      result.ranges.push_back({next, range.low - 1});
    }
    next = std::max(next, static_cast<char32_t>(range.high + 1));
  }
  if (next <= last_code_point) {
    result.ranges.push_back({next, last_code_point});
  }
  return result;
}

char32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t first = byte(0);
  const std::size_t length = first < 0x80 ? 1 : utf8_length(text);
  if (length <= 1) {
    text.remove_prefix(1);
    return length == 1 ? first : replacement;
  }
  char32_t result = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    result = result << 6U | (byte(i) & 0x3FU);
  }
  text.remove_prefix(length);
  return result;
}

std::string utf8_encode(char32_t character) {
  if (character < 0x80) {
    return {static_cast<char>(character)};
  }
  const unsigned length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  std::string bytes(length, '\0');
  for (unsigned i = length - 1; i > 0; --i) {
    bytes[i] = static_cast<char>(0x80U | (character & 0x3FU));
    character >>= 6U;
  }
  bytes[0] = static_cast<char>((0xF0U << (4 - length)) | character);
  return bytes;
}

}  // namespace autopack::source
