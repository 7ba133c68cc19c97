#pragma once

#include "source/automaton.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::source {

/// One pattern of an ignore file, with docker's meaning (moby/patternmatcher).
class Pattern {
public:
  /// Reads one line; none for a comment or an empty line. Throws Error(project) saying what is
  /// wrong with a malformed one.
  static std::optional<Pattern> parse(std::string_view line);

  /// True for `!pattern`.
  bool is_exception() const { return exception_; }

  /// Whether it matches the path itself; what lies below a match is the caller's.
  bool matches(std::string_view path) const;

  /// What every path that it matches ends with; none where that is not known.
  std::optional<char> last_byte() const { return last_byte_; }

  /// False when it matches nothing below `directory`.
  bool may_match_below(std::string_view directory) const;

private:
  enum class Kind { exact, prefix, suffix, regexp };

  void compile(std::string_view pattern);
  bool ends_so(std::string_view path) const;

  bool exception_{false};
  Kind kind_{Kind::exact};
  std::string text_{};
  std::optional<char> last_byte_{};
  std::optional<Automaton> automaton_{};
};

/// U+FEFF, which some editors begin a file with.
inline constexpr std::string_view byte_order_mark{"\xEF\xBB\xBF"};

/// `line` without the white space that docker takes off both ends (Unicode's).
std::string_view trim_unicode(std::string_view line);

}  // namespace autopack::source
