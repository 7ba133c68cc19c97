#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// A set of Unicode code points: those in a range, or, negated, all others.
struct CharacterSet {
  struct Range {
    char32_t low{0};
    char32_t high{0};
  };

  std::vector<Range> ranges{};
  bool negated{false};

  bool contains(char32_t character) const;
};

/// The set of `\d`, `\s` or `\w` by its letter; none for another letter.
std::optional<CharacterSet> perl_class(char32_t letter);
/// The set of `[:alpha:]` or `[:^alpha:]` by what stands between the colons; none when there is no
/// such.
std::optional<CharacterSet> posix_class(std::string_view name);
/// The ranges of all that `set` does not contain, not negated.
CharacterSet complement(CharacterSet set);

/// The code point at the start of `text`, which is shortened by it; U+FFFD for a byte that is not
/// UTF-8, as in Go.
char32_t take_character(std::string_view& text);
/// The bytes of `character`.
std::string utf8_encode(char32_t character);

}  // namespace autopack::source
