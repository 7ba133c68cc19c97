#pragma once

#include "base/report.hpp"
#include "image/tar.hpp"
#include "lock/locked_set.hpp"

#include <filesystem>
#include <string>

namespace autopack::build {

/// Clones `source`, a commit of a repository, with git and the logins of this machine, and writes
/// its files to `tar` below `name`, including `.git` and submodules. Uses `place` for the clone.
/// Throws Error(environment) without git, Error(remote) if it fails, and Error(project) if the
/// clone is too large.
void add_checkout(image::TarWriter& tar,
                  const std::string& name,
                  const lock::LockedSource& source,
                  const std::filesystem::path& directory,
                  const Cancellation* cancellation);

}  // namespace autopack::build
