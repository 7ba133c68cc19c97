#pragma once

#include "plan/plan.hpp"
#include "plan/templates.hpp"

namespace autopack::plan {

/// Returns everything to install for `project`: its requirements, extra packages and own package.
Dependencies project_dependencies(const source::Tree& tree, const project::Project& project);

/// Selects the interpreter for the program, and adds packages for apt: the interpreter and pip if
/// the executor image of `plan` lacks them, and the user's. Reports a problem if that image has no
/// apt-get.
void add_system_packages(Plan& plan, const Options& options, Problems& problems);

}  // namespace autopack::plan
