#pragma once

#include "source/glob.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::source {

/// One pattern of an ignore file, with docker's meaning (moby/patternmatcher).
class Pattern {
public:
  /// Reads one line; returns nothing for a comment or an empty line. Throws Error(project) if it is
  /// malformed, or if docker reads a part of it as a regular expression.
  static std::optional<Pattern> parse(std::string_view line);

  /// True for `!pattern`.
  bool is_exception() const { return exception_; }

  /// Returns whether it matches the path itself; the caller handles paths below a match.
  bool matches(std::string_view path) const;

  /// Returns the byte that ends every path that it matches; nothing if that is not known.
  std::optional<char> last_byte() const;

  /// Returns false if it matches nothing below `directory`.
  bool may_match_below(std::string_view directory) const;

private:
  enum class Kind { exact, prefix, suffix, glob };

  void compile(std::string_view pattern);
  bool ends_so(std::string_view path) const;

  bool exception_{false};
  Kind kind_{Kind::exact};
  std::string text_{};
  Glob glob_{Glob::Unit::character};
};

/// U+FEFF, with which some editors begin a file.
inline constexpr std::string_view byte_order_mark{"\xEF\xBB\xBF"};

/// Returns `line` without white space at both ends (Unicode's), as docker reads it.
std::string_view trim_unicode(std::string_view line);

}  // namespace autopack::source
