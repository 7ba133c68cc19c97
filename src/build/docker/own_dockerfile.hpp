#pragma once

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "source/selection.hpp"

#include <filesystem>

namespace autopack::build {

/// Reports where a build of a user's own Dockerfile would differ from docker's own command: errors
/// for files that it copies but a rule excludes, warnings for files whose mode is not kept and for
/// a Dockerfile that gets into the image. `place` is the Dockerfile's path in the context.
/// `directory` is where the files' modes are read; empty if they come from git.
Problems own_dockerfile_findings(const plan::ReadablePlan& plan,
                                 const source::Selection& ignore,
                                 const std::string& place,
                                 const std::filesystem::path& directory);

}  // namespace autopack::build
