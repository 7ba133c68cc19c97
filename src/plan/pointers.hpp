#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Warns if files of the image are pointers of Git LFS instead of the real files.
Problems unfetched_files(const ReadablePlan& plan);

/// True if `entry` is such a pointer. Reads it if its size fits.
bool is_unfetched(const ReadablePlan& plan, const ContextEntry& entry);

}  // namespace autopack::plan
