#pragma once

#include "source/character.hpp"

#include <string_view>
#include <vector>

namespace autopack::source {

/// One step of a regular expression, matched from left to right.
struct RegexpItem {
  enum class Kind {
    character,    ///< one character of `advance`
    text_begin,   ///< matches the empty text there
    text_end,     ///< matches the empty text there
    boundary,     ///< between a word character and another
    no_boundary,  ///< everywhere else
  };

  Kind kind{Kind::character};
  CharacterSet advance{};  ///< takes a character and goes on
  CharacterSet stay{};     ///< takes a character and stays
  bool skippable{false};   ///< may be left out when it is reached
};

/// The alternatives between `|`.
using Regexp = std::vector<std::vector<RegexpItem>>;

/// Reads the subset of Go's regular expressions (RE2 syntax) that docker makes of ignore patterns:
/// no group but `(.*/)?`. Throws Error(project) saying what is wrong.
Regexp parse_regexp(std::string_view text);

}  // namespace autopack::source
