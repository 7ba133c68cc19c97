#pragma once

#include "plan/advice.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::plan {

/// What the environment file asks conda for, as far as neither a requirement nor the executor image
/// is known to bring it; none when nothing is left.
std::optional<Problem> conda_advice(const ReadablePlan& plan,
                                    const project::Project& project,
                                    const BaseModules& in_base);

/// Where some of `modules`, which nothing provides, are in the pip part of an environment file that
/// is not read; none when there is none.
std::optional<std::string> unread_conda_hint(const ReadablePlan& plan,
                                             const project::Project& project,
                                             const std::vector<std::string>& modules);

}  // namespace autopack::plan
