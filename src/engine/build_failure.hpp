#pragma once

#include "base/error.hpp"
#include "engine/build_progress.hpp"
#include "engine/docker.hpp"

namespace autopack::engine {

/// The error that a failed build is for a person: the step, its line, what pip could not find and
/// where that was asked for, the remedy.
Error build_error(const BuildFailure& failure, const BuildRequest& request);

}  // namespace autopack::engine
