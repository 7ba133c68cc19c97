#pragma once

#include "base/environment.hpp"
#include "source/git_pattern.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::source {

/// An ignore file outside of the tree to which it applies.
struct OuterIgnoreFile {
  std::string name{};    ///< for messages
  std::string prefix{};  ///< prepended to a path of the tree to make it relative to the rules
  std::string text{};
};

/// Git's facts about a directory in a work tree, besides the ignore files in it.
struct GitWorkTree {
  std::string prefix{};                    ///< of the directory: empty, or ends with a slash
  std::vector<OuterIgnoreFile> outside{};  ///< highest precedence first
  Letters letters{Letters::as_written};    ///< for the patterns of all ignore files
  /// Returns sorted paths of tracked files below `directory` of the tree, which is "" or the root
  /// of a nested repository; relative to that directory. Empty if it is not a repository.
  std::function<std::vector<std::string>(std::string_view directory)> tracked{};
};

/// Returns the work tree that contains `directory`; null if there is none.
std::shared_ptr<const GitWorkTree> find_git_work_tree(const std::filesystem::path& directory,
                                                      const Environment& environment);

/// A repository in `.git` of its working tree.
struct PlainRepository {
  std::filesystem::path work_tree{};
  std::filesystem::path directory{};  ///< `.git`
};

/// Returns the repository of `directory` if it is ordinary: owned by this user, with no variable or
/// setting that changes its place or how git reads ignore files. Returns nothing if git may see it
/// differently, and libgit2 is needed. Opening libgit2 takes longer than the rest of a short
/// command, because it reads the certificates of all authorities.
std::optional<PlainRepository> find_plain_repository(const std::filesystem::path& directory,
                                                     const Environment& environment);

/// Returns the directory of a user's git settings that are not in `~/.gitconfig`:
/// `XDG_CONFIG_HOME/git`, else `~/.config/git`.
std::filesystem::path git_directory_of_user(const Environment& environment);

}  // namespace autopack::source
