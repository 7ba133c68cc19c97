#pragma once

#include "source/tree.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// The file name of built-in rules.
inline constexpr std::string_view defaults_name{"autopack's defaults"};

/// The place of an exclusion, for messages.
struct Rule {
  std::string pattern{};  ///< as written, trimmed, `!` included
  std::string file{};     ///< `.dockerignore`; "autopack's defaults" for the built-in ones
  int line{0};            ///< 1-based; 0 for built-in ones
};

/// Docker's .dockerignore semantics (moby/patternmatcher): patterns in order, the last match wins,
/// `!` negates, `**`, `*`, `?`, `[...]`, `\` escapes; a pattern also matches everything below a
/// matching directory.
class IgnoreRules {
public:
  /// No rules: nothing is ignored.
  IgnoreRules() = default;

  /// Returns autopack's own exclusions: `.git`, virtual environments, caches, byte code, ...
  static const IgnoreRules& defaults();
  /// Returns these, and files about the project rather than the program: `autopack.yaml`,
  /// `.github`, ...
  static const IgnoreRules& defaults_and_project_files();

  /// Appends the rules of an ignore file's text. Throws Error(project) naming file, line and
  /// pattern if a pattern is malformed.
  void add(std::string_view text, const std::string& file);

  /// Returns the rule that excludes `path`; nothing if it is included.
  std::optional<Rule> excludes(std::string_view path) const;
  /// Returns false if nothing below the excluded directory `path` can be included again, so that a
  /// walk can skip it.
  bool may_hold_exceptions(std::string_view path) const;

  const std::vector<Rule>& rules() const;

  /// Returns all rules in order as a Dockerfile's `.dockerignore` that docker reads the same way.
  std::string text() const;

private:
  struct Compiled;

  /// Adds `rule` unless `line` holds no pattern.
  void append(const Rule& rule, std::string_view line);
  template <typename Patterns>
  void add_built_in(const Patterns& patterns);

  friend class IgnoreWalk;

  std::vector<Rule> rules_;
  std::vector<std::shared_ptr<const Compiled>> compiled_;
  std::vector<std::optional<char>> last_bytes_;  ///< by rule; see Pattern::last_byte
  bool has_exceptions_{false};
};

/// IgnoreRules::excludes for many paths: evaluates the rules for a directory once for consecutive
/// paths in it. Not for several threads at once.
class IgnoreWalk {
public:
  /// `rules` must outlive this object, and stay as they are.
  explicit IgnoreWalk(const IgnoreRules& rules) : rules_{rules} {}

  std::optional<Rule> excludes(std::string_view path);

private:
  void enter(std::string_view directory);
  const Rule* decide(std::string_view path, bool is_directory);
  const std::vector<std::size_t>& may_decide(char last_byte);

  const IgnoreRules& rules_;
  std::optional<std::string> directory_{};
  const Rule* decision_{nullptr};  ///< on the directory
  std::vector<char> matched_{};    ///< by rule: it matched the directory, or one above
  bool any_matched_{false};
  /// The rules that can match a path which ends so, as far as that was asked.
  std::map<char, std::vector<std::size_t>> by_last_byte_{};
  std::vector<std::size_t> all_{};
};

/// Returns a shell command that adds `line` to `file`.
std::string append_command(std::string_view line, std::string_view file);
/// Return `--exclude=` and `--include=` for exactly `path`, quoted for a shell.
std::string exclude_flag(std::string_view path);
std::string include_flag(std::string_view path);
/// Returns a hint that excludes exactly `path`.
std::string leave_out_command(std::string_view path);
/// Returns a hint that includes `path`, or everything below it, again if `rule` excludes it: a
/// command if a line of a `.dockerignore` can do it, else text.
std::string bring_back_command(std::string_view path, bool is_directory, const Rule& rule);

/// Returns the rules that apply: the defaults first (for a user's own `dockerfile`, which may copy
/// project files, without the rules for these), then `<dockerfile>.dockerignore` if it exists, else
/// `.dockerignore` of the tree.
IgnoreRules load_ignore_rules(const Tree& tree, const std::optional<std::string>& dockerfile = {});

}  // namespace autopack::source
