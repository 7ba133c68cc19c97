#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <optional>

namespace autopack::source {

/// A repository that stands in `.git` of its working tree.
struct PlainRepository {
  std::filesystem::path work_tree{};
  std::filesystem::path directory{};  ///< `.git`
};

/// The repository of `directory` when nothing about it is out of the ordinary: this user's own,
/// with no variable and no setting that says where it is or how git reads ignore files. None where
/// git may see it otherwise, and libgit2 has to be asked: to open that takes longer than the rest
/// of a short command, because it reads the certificates of all authorities.
std::optional<PlainRepository> find_plain_repository(const std::filesystem::path& directory,
                                                     const Environment& environment);

/// Where git's settings of a user are unless `HOME` has them: `XDG_CONFIG_HOME/git`, else
/// `~/.config/git`.
std::filesystem::path git_directory_of_user(const Environment& environment);

}  // namespace autopack::source
