#pragma once

#include "base/environment.hpp"
#include "source/tree.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace autopack::source {

/// The values of `--source` besides revisions.
inline constexpr std::string_view worktree_source{"worktree"};
inline constexpr std::string_view index_source{"index"};

/// Returns the files of `directory` from git's index (`index`) or a commit (any name that `git
/// rev-parse` accepts), with the contents that a checkout would write. Reads nothing from the
/// working tree, which need not contain the directory. Respects GIT_DIR, GIT_WORK_TREE and
/// GIT_INDEX_FILE. Entries that a checkout fills from elsewhere (submodules, Git LFS files that
/// were not fetched, foreign filters) are EntryType::other. Throws Error(usage) if there is no such
/// repository, commit or directory.
std::unique_ptr<Tree> make_git_tree(const std::filesystem::path& directory,
                                    const std::string& source,
                                    const Environment& environment);

/// Returns the text of the file `path` in the index or a commit; nothing if it has no such file.
/// Throws as make_git_tree does, and Error(project) if it is not a regular file.
std::optional<std::string> read_git_file(const std::filesystem::path& path,
                                         const std::string& source,
                                         const Environment& environment);

/// A file of the repository of the working directory.
struct GitFile {
  bool inside{false};  ///< it is below the repository's root
  std::string path{};  ///< relative to the root
  std::optional<std::string> text{};
};

/// Returns `file`, a path on the disk, as read_git_file needs it; not inside if there is no
/// repository.
GitFile find_git_file(const std::filesystem::path& file,
                      const std::string& source,
                      const Environment& environment);

/// Returns true if git would find a repository at `directory`.
bool is_in_git(const std::filesystem::path& directory, const Environment& environment);

/// The origin of an image's files.
struct GitFacts {
  std::optional<std::string> revision{};  ///< 40 hexadecimal digits; absent before the first commit
  std::optional<std::string> remote{};    ///< URL without credentials
  bool dirty{false};                      ///< the directory's files differ from those of `revision`
};

/// Returns the facts of `directory` and `source` (including `worktree`); nothing if it is in no
/// repository.
std::optional<GitFacts> find_git_facts(const std::filesystem::path& directory,
                                       const std::string& source,
                                       const Environment& environment);

/// The tags to consider, as options of `git describe --tags`.
struct GitTagQuery {
  std::string match{"*"};    ///< `--match`
  bool first_parent{false};  ///< `--first-parent`

  bool operator==(const GitTagQuery&) const = default;
};

/// The position of files in the history of tags.
struct GitDescription {
  /// The nearest such tag; absent if there is none at their commit or before it.
  std::optional<std::string> tag{};
  bool at_tag{false};                   ///< their commit is the tag's
  bool dirty{false};                    ///< they differ from the commit; determined only at a tag
  bool shallow{false};                  ///< the clone lacks commits, and perhaps tags
  std::optional<std::string> branch{};  ///< checked out
};

/// Returns the result of `git describe` for `directory` and `source` (including `worktree`);
/// nothing if it is in no repository. Throws as find_git_facts does.
std::optional<GitDescription> describe_in_git(const std::filesystem::path& directory,
                                              const std::string& source,
                                              const Environment& environment,
                                              const GitTagQuery& query);

}  // namespace autopack::source
