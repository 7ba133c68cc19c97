#pragma once

#include "base/environment.hpp"
#include "source/tree.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace autopack::source {

/// What `--source` takes besides revisions.
inline constexpr std::string_view worktree_source{"worktree"};
inline constexpr std::string_view index_source{"index"};

/// The files of `directory` as git's index (`index`) or a commit (whatever names one to `git
/// rev-parse`) has them, with the contents that a checkout would write: nothing is read from the
/// working tree, which need not hold the directory. GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE are
/// honoured. Entries that a checkout fills from elsewhere (submodules, Git LFS files that were not
/// fetched, foreign filters) are EntryType::other. Throws Error(usage) when there is no such
/// repository, commit or directory.
std::unique_ptr<Tree> make_git_tree(const std::filesystem::path& directory,
                                    const std::string& source,
                                    const Environment& environment);

/// The text of the file `path` as the index or a commit has it; none when it has no such file.
/// Throws as make_git_tree does, and Error(project) for what is no regular file.
std::optional<std::string> read_git_file(const std::filesystem::path& path,
                                         const std::string& source,
                                         const Environment& environment);

/// A file of the repository of the working directory.
struct GitFile {
  bool inside{false};  ///< it lies below the repository's root
  std::string path{};  ///< from there
  std::optional<std::string> text{};
};

/// `file`, whose path is the disk's, as read_git_file has it; outside where there is no repository.
GitFile find_git_file(const std::filesystem::path& file,
                      const std::string& source,
                      const Environment& environment);

/// True when git would find a repository at `directory`.
bool is_in_git(const std::filesystem::path& directory, const Environment& environment);

/// Where an image's files come from.
struct GitFacts {
  std::optional<std::string> revision{};  ///< 40 hexadecimal digits; none before the first commit
  std::optional<std::string> remote{};    ///< URL without credentials
  bool dirty{false};                      ///< the directory's files are not those of `revision`
};

/// The facts of `directory` and `source` (`worktree` too); none when it is in no repository.
std::optional<GitFacts> find_git_facts(const std::filesystem::path& directory,
                                       const std::string& source,
                                       const Environment& environment);

/// Which tags count, as options of `git describe --tags` say it.
struct GitTagQuery {
  std::string match{"*"};    ///< `--match`
  bool first_parent{false};  ///< `--first-parent`

  bool operator==(const GitTagQuery&) const = default;
};

/// Where files stand in the history of tags.
struct GitDescription {
  /// The nearest that counts; none when there is none at their commit or before it.
  std::optional<std::string> tag{};
  bool at_tag{false};                   ///< their commit is the tag's
  bool dirty{false};                    ///< they are not the commit's; looked for at a tag only
  bool shallow{false};                  ///< the clone lacks commits, and perhaps tags
  std::optional<std::string> branch{};  ///< that is checked out
};

/// What `git describe` says of `directory` and `source` (`worktree` too); none when it is in no
/// repository. Throws as find_git_facts does.
std::optional<GitDescription> describe_in_git(const std::filesystem::path& directory,
                                              const std::string& source,
                                              const Environment& environment,
                                              const GitTagQuery& query);

}  // namespace autopack::source
