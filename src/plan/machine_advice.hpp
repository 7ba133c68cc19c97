#pragma once

#include "plan/advice.hpp"

namespace autopack::plan {

/// Warns of what files that the program surely imports expect of the machine, and what the executor
/// image surely lacks: files at absolute paths that exist on this machine, time zones, and a name
/// of the user.
Problems machine_advice(const ReadablePlan& plan,
                        const project::Project& project,
                        const std::vector<ReachedFile>& reached,
                        const BaseModules& in_base);

}  // namespace autopack::plan
