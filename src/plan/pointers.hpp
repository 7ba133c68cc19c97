#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// A warning when files of the image are pointers of Git LFS instead of what they stand for.
Problems unfetched_files(const ReadablePlan& plan);

}  // namespace autopack::plan
