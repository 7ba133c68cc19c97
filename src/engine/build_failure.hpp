#pragma once

#include "base/error.hpp"
#include "engine/build_progress.hpp"
#include "engine/docker.hpp"

#include <string_view>

namespace autopack::engine {

/// How the cause begins that holds the end of a failing step's log.
inline constexpr std::string_view last_output_cause{"its last output:"};

/// The error that a failed build is for a person: the step, its line, what pip could not find and
/// where that was asked for, the remedy.
Error build_error(const BuildFailure& failure, const BuildRequest& request);

}  // namespace autopack::engine
