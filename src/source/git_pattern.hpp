#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// `path` as a pattern in git's syntax that nothing else fits.
std::string literal_pattern(std::string_view path);

/// What git's setting `core.ignorecase` says of ASCII letters.
enum class Letters { as_written, either_case };

/// One pattern of a `.gitignore`, with git's meaning (gitignore(5)).
class GitPattern {
public:
  /// Reads one line; none for a comment or an empty line.
  static std::optional<GitPattern> parse(std::string_view line,
                                         Letters letters = Letters::as_written);

  /// True for `!pattern`.
  bool is_exception() const { return exception_; }

  /// True for `pattern/`.
  bool is_for_directories() const { return for_directories_; }

  /// True when the pattern holds a slash, so that it is of the path from where its file stands.
  bool is_anchored() const { return anchored_; }

  /// Whether it matches the path itself, relative to where the pattern's file stands; what lies
  /// below a match is the caller's.
  bool matches(std::string_view path, bool is_directory) const {
    return matches(path, path.substr(path.rfind('/') + 1), is_directory);
  }

  /// The same for one who knows the path's last name.
  bool matches(std::string_view path, std::string_view name, bool is_directory) const;

  /// False when it matches nothing below `directory`. Always true when it is not anchored.
  bool may_match_below(std::string_view directory) const;

  /// The pattern without `!`, the slash that anchors it and the one for directories.
  const std::string& body() const { return body_; }

private:
  enum class Kind { exact, suffix, steps };

  struct Step {
    enum class Kind : std::uint8_t {
      byte,         ///< that one
      one,          ///< any but a slash
      set,          ///< one of a set, never a slash
      any,          ///< as many as there are, but no slash
      directories,  ///< nothing, or whole names with the slash behind each
      rest,         ///< everything that is left
    };
    Kind kind{Kind::byte};
    char byte{};
    std::uint16_t set{};  ///< index into sets_
  };

  void compile();
  bool add_set(std::string_view& rest);
  bool is_match(std::string_view text) const;
  bool runs_through(std::string_view text) const;

  bool exception_{false};
  bool for_directories_{false};
  bool anchored_{false};
  bool impossible_{false};
  bool folds_{false};  ///< the text is compared in lower case
  Kind kind_{Kind::exact};
  std::string body_{};
  std::string text_{};  ///< of an exact one, of a suffix; else what every match begins with
  std::vector<Step> steps_{};
  std::vector<std::bitset<256>> sets_{};
};

}  // namespace autopack::source
