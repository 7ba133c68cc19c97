#pragma once

#include "base/error.hpp"
#include "build/docker/build_context.hpp"
#include "engine/build_failure.hpp"

namespace autopack::build {

/// Returns the error for a failed build: the step, its line, the requirement that pip could not
/// find and its place in the project, and the remedy.
Error build_error(const engine::BuildFailure& failure, const ContextParts& parts);

}  // namespace autopack::build
