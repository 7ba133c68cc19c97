#pragma once

#include "plan/plan.hpp"

#include <optional>
#include <string>

namespace autopack::plan {

/// Returns where the program uses CUDA: `train.py:12`, in the files that it surely imports. Returns
/// nothing if none of them does.
std::optional<std::string> find_gpu_use(const ReadablePlan& plan, const project::Project& project);

}  // namespace autopack::plan
