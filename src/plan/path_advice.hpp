#pragma once

#include "plan/import_walk.hpp"

#include <vector>

namespace autopack::plan {

/// Warnings for paths in the `reached` files that work on the user's machine and not in the image:
/// spelled in another case, written with backslashes, a pointer of Git LFS, a directory to write to
/// that a rule leaves out. Each path once.
Problems path_advice(const ReadablePlan& plan,
                     const project::Project& project,
                     const std::vector<ReachedFile>& reached);

}  // namespace autopack::plan
