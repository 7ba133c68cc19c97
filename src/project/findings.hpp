#pragma once

#include "base/error.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// Where a path leads once the symbolic links on its way are followed inside the tree.
struct Place {
  enum class Kind { found, missing, leaves };

  Kind kind{Kind::missing};
  source::Entry entry{};             ///< what is there; `entry.path` is free of links
  std::vector<std::string> links{};  ///< links on the way, as paths of the tree

  bool is_file() const { return kind == Kind::found && entry.type == source::EntryType::file; }

  bool is_directory() const {
    return kind == Kind::found && entry.type == source::EntryType::directory;
  }
};

/// A tree being read, with what was found wrong in it so far.
class Findings {
public:
  Findings(const source::Tree& tree, source::Selection ignore)
      : tree_{&tree}, ignore_{std::move(ignore)} {}

  const source::Tree& tree() const { return *tree_; }

  const source::Selection& ignore() const { return ignore_; }

  const Problems& problems() const { return problems_; }

  void error(std::string message, std::string origin = {}, std::vector<std::string> hints = {});
  void warn(std::string message, std::string origin = {}, std::vector<std::string> hints = {});

  /// Follows `path`, which is normal (see source::normalise); a link cycle counts as missing.
  Place follow(std::string_view path) const;

  bool is_file(std::string_view path) const { return follow(path).is_file(); }

  bool is_directory(std::string_view path) const { return follow(path).is_directory(); }

  /// True when a rule keeps `path` out.
  bool is_ignored(std::string_view path) const;
  /// Finds an error, naming the rule, when `path` is kept out; `why` says who needs it. What only
  /// git ignores is taken in.
  bool require_included(std::string_view path, const std::string& why);

  /// The files below `directory` that are not ignored, sorted; at most `limit`.
  std::vector<std::string> files_below(std::string_view directory, std::size_t limit = 20000) const;
  /// What the user may have meant by `path`: a file of the same base name elsewhere, else the
  /// nearest of `candidates`. As hints, so empty when there is none.
  static std::vector<std::string> suggest(std::string_view path,
                                          const std::vector<std::string>& candidates);

private:
  const source::Tree* tree_;
  source::Selection ignore_;
  Problems problems_;
};

/// `directory/name`, or `name` when `directory` is the root.
std::string join_path(std::string_view directory, std::string_view name);
/// The directory part of a tree path; "" for a path at the root.
std::string parent_path(std::string_view path);
/// The last component of a path.
std::string base_name(std::string_view path);
/// True when `path` is `directory` or below it.
bool is_below(std::string_view path, std::string_view directory);
/// fnmatch for one path component: `*`, `?`, `[...]`.
bool matches_glob(std::string_view pattern, std::string_view name);
/// Sorts and removes duplicates.
void sort_unique(std::vector<std::string>& list);

}  // namespace autopack::project
