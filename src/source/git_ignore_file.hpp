#pragma once

#include "source/git_pattern.hpp"
#include "source/ignore.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// The patterns of a file with git's syntax.
class GitIgnoreFile {
public:
  enum class Decision { none, out, in };

  struct Match {
    Decision decision{Decision::none};
    const Rule* rule{nullptr};  ///< null if there is no decision
  };

  GitIgnoreFile() = default;

  /// Prepends `prefix` to a path of the tree and removes its first `skipped` bytes, to make it
  /// relative to the file's directory.
  GitIgnoreFile(std::string_view text,
                const std::string& name,
                std::string prefix,
                std::size_t skipped,
                Letters letters = Letters::as_written);

  /// Appends the rules of another file, relative to the same directory.
  void add(std::string_view text, const std::string& name);
  /// Appends one pattern, described by `rule`.
  void add_pattern(std::string_view pattern, Rule rule);

  /// Returns the decision of the last pattern that matches `path` itself.
  Match decide(std::string_view path, bool is_directory) const;
  /// Returns false if no negated pattern matches anything below `directory`.
  bool may_bring_back_below(std::string_view directory) const;

  bool empty() const { return patterns_.empty(); }

  const std::vector<GitPattern>& patterns() const { return patterns_; }

  const std::vector<Rule>& rules() const { return rules_; }

private:
  std::string prefix_{};
  std::size_t skipped_{0};
  Letters letters_{Letters::as_written};
  std::vector<GitPattern> patterns_{};
  std::vector<Rule> rules_{};
};

}  // namespace autopack::source
