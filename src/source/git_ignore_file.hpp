#pragma once

#include "source/git_pattern.hpp"
#include "source/ignore.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// The patterns of one file that has git's syntax.
class GitIgnoreFile {
public:
  enum class Decision { none, out, in };

  struct Match {
    Decision decision{Decision::none};
    const Rule* rule{nullptr};  ///< null when there is no decision
  };

  GitIgnoreFile() = default;

  /// `prefix` goes before a path of the tree and `skipped` bytes are taken off it, so that it is
  /// relative to where the file stands.
  GitIgnoreFile(std::string_view text,
                const std::string& name,
                std::string prefix,
                std::size_t skipped,
                Letters letters = Letters::as_written);

  /// Appends the rules of another file, with the place of this one.
  void add(std::string_view text, const std::string& name);
  /// Appends one pattern that `rule` tells of.
  void add_pattern(std::string_view pattern, Rule rule);

  /// What the last pattern that matches says of `path` itself.
  Match decide(std::string_view path, bool is_directory) const;
  /// False when no pattern that brings back matches anything below `directory`.
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
