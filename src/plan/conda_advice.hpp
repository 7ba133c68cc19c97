#pragma once

#include "plan/advice.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::plan {

/// Reports the conda packages of the environment file that neither a requirement nor the executor
/// image is known to provide; nothing if there are none.
std::optional<Problem> conda_advice(const ReadablePlan& plan,
                                    const project::Project& project,
                                    const BaseModules& in_base);

/// Returns where some of `modules`, which nothing provides, are in the pip part of an unused
/// environment file; nothing if there is none.
std::optional<std::string> unread_conda_hint(const ReadablePlan& plan,
                                             const project::Project& project,
                                             const std::vector<std::string>& modules);

}  // namespace autopack::plan
