#pragma once

#include "base/error.hpp"
#include "engine/build_progress.hpp"
#include "engine/docker.hpp"

#include <string_view>

namespace autopack::engine {

/// The first words of the cause that contains the end of a failing step's log.
inline constexpr std::string_view last_output_cause{"its last output:"};

/// Returns the error for a failed build: the step, its line, the requirement that pip could not
/// find and its place in the project, and the remedy.
Error build_error(const BuildFailure& failure, const BuildRequest& request);

}  // namespace autopack::engine
