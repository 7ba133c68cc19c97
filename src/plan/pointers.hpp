#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Warns if files of the image are pointers of Git LFS instead of the real files.
Problems unfetched_files(const ReadablePlan& plan);

}  // namespace autopack::plan
