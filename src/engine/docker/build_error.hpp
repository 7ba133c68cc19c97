#pragma once

#include "base/error.hpp"
#include "engine/build_failure.hpp"
#include "engine/docker/build_context.hpp"

namespace autopack::engine {

/// Returns the error for a failed build: the step, its line, the requirement that pip could not
/// find and its place in the project, and the remedy.
Error build_error(const BuildFailure& failure, const ContextParts& parts);

}  // namespace autopack::engine
