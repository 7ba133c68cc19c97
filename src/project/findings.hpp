#pragma once

#include "base/error.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

struct Request;

/// The target of a path after following the symbolic links on the way inside the tree.
struct Place {
  enum class Kind { found, missing, leaves };

  Kind kind{Kind::missing};
  source::Entry entry{};             ///< the target; `entry.path` contains no links
  std::vector<std::string> links{};  ///< links on the way, as paths of the tree

  bool is_file() const { return kind == Kind::found && entry.type == source::EntryType::file; }

  bool is_directory() const {
    return kind == Kind::found && entry.type == source::EntryType::directory;
  }
};

/// A tree being read, with the errors found so far.
class Findings {
public:
  Findings(const source::Tree& tree, source::Selection ignore)
      : tree_{&tree}, ignore_{std::move(ignore)} {}

  const source::Tree& tree() const { return *tree_; }

  const source::Selection& ignore() const { return ignore_; }

  const Problems& problems() const { return problems_; }

  void error(std::string message, std::string origin = {}, std::vector<std::string> hints = {});
  void warn(std::string message, std::string origin = {}, std::vector<std::string> hints = {});

  /// Follows `path`, which must be normalised (see source::normalise); a link cycle counts as
  /// missing.
  Place follow(std::string_view path) const;

  bool is_file(std::string_view path) const { return follow(path).is_file(); }

  bool is_directory(std::string_view path) const { return follow(path).is_directory(); }

  /// Returns true if a rule excludes `path`.
  bool is_ignored(std::string_view path) const;
  /// Reports an error with the rule if `path` is excluded; `why` names who needs it. Includes a
  /// path that only git ignores.
  bool require_included(std::string_view path, const std::string& why);

  /// Returns the files below `directory` that are not ignored, sorted; at most `limit`.
  std::vector<std::string> files_below(std::string_view directory, std::size_t limit = 20000) const;
  /// Returns hints of what `path` may mean: a file with the same base name elsewhere, else the
  /// nearest of `candidates`; may be empty.
  static std::vector<std::string> suggest(std::string_view path,
                                          const std::vector<std::string>& candidates);

private:
  const source::Tree* tree_;
  source::Selection ignore_;
  Problems problems_;
};

/// Matches one path component like fnmatch: `*`, `?`, `[...]`.
bool matches_glob(std::string_view pattern, std::string_view name);
/// Sorts and removes duplicates.
void sort_unique(std::vector<std::string>& list);

/// Returns an absolute or relative `path` as a path in the tree; nothing if it is outside.
std::optional<std::string> path_in_tree(const Request& request, const std::string& path);

}  // namespace autopack::project
