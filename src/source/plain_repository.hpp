#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <optional>

namespace autopack::source {

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
