#pragma once

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "source/selection.hpp"

#include <filesystem>

namespace autopack::engine {

/// What a user's own Dockerfile would not find, or would find otherwise than with docker's own
/// command: an error for what it copies and a rule leaves out, warnings for files whose mode is
/// not kept and for a Dockerfile that gets into the image. `place` is where the Dockerfile stands
/// in the context; `directory` is where the files' modes are looked at, empty when they are git's.
Problems own_dockerfile_findings(const plan::ReadablePlan& plan,
                                 const source::Selection& ignore,
                                 const std::string& place,
                                 const std::filesystem::path& directory);

}  // namespace autopack::engine
