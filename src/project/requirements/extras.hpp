#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <utility>
#include <vector>

namespace autopack::project {

/// Checks the request's additions to the entry (requirements, extras, groups, `extra_packages`,
/// `extra_dirs`), and the requirements `found` elsewhere with their places, and adds them to
/// `project`: paths inside the tree unchanged, others by their future name in the context.
void read_extras(Findings& findings,
                 const Request& request,
                 const std::vector<std::pair<std::string, std::string>>& found,
                 Project& project);

}  // namespace autopack::project
