#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// Checks `requirements`, `extra_packages` and `extra_dirs` of the request and adds them to
/// `project`: those inside the tree by path, the others by the name they will have in the context.
void read_extras(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
