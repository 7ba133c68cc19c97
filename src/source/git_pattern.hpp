#pragma once

#include "source/glob.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::source {

/// Returns a pattern in git's syntax that matches only `path`.
std::string literal_pattern(std::string_view path);

/// How git compares ASCII letters, by its setting `core.ignorecase`.
enum class Letters { as_written, either_case };

/// One pattern of a `.gitignore`, with git's meaning (gitignore(5)).
class GitPattern {
public:
  /// Reads one line; returns nothing for a comment or an empty line.
  static std::optional<GitPattern> parse(std::string_view line,
                                         Letters letters = Letters::as_written);

  /// True for `!pattern`.
  bool is_exception() const { return exception_; }

  /// True if the pattern contains a slash, so that it matches paths relative to its file.
  bool is_anchored() const { return anchored_; }

  /// Returns whether it matches the path itself, relative to the pattern's file; the caller handles
  /// paths below a match.
  bool matches(std::string_view path, bool is_directory) const {
    return matches(path, path.substr(path.rfind('/') + 1), is_directory);
  }

  /// The same, for callers that know the last name of the path.
  bool matches(std::string_view path, std::string_view name, bool is_directory) const;

  /// Returns false if it matches nothing below `directory`. Always true if it is not anchored.
  bool may_match_below(std::string_view directory) const;

  /// Returns the pattern without `!`, the slash that anchors it and the one for directories.
  const std::string& body() const { return body_; }

private:
  void compile();
  bool add_set(std::string_view& rest);

  bool exception_{false};
  bool for_directories_{false};
  bool anchored_{false};
  bool impossible_{false};
  bool folds_{false};  ///< the text is compared in lower case
  std::string body_{};
  Glob glob_{Glob::Unit::byte};
};

}  // namespace autopack::source
