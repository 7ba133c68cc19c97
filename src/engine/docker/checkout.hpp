#pragma once

#include "base/report.hpp"
#include "image/tar.hpp"
#include "lock/locked_set.hpp"

#include <filesystem>
#include <string>

namespace autopack::engine {

/// Writes the files of `source`, a commit of a repository, to `tar` below `name`: a clone by the
/// git of this machine with its logins, `.git` and submodules with it. It stands at `place`
/// meanwhile. Throws Error(environment) without git, Error(remote) when it fails, and
/// Error(project) for a clone that is too large.
void add_checkout(image::TarWriter& tar,
                  const std::string& name,
                  const lock::LockedSource& source,
                  const std::filesystem::path& directory,
                  const Cancellation* cancellation);

}  // namespace autopack::engine
