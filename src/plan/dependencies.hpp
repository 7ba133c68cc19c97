#pragma once

#include "plan/plan.hpp"
#include "plan/templates.hpp"

namespace autopack::plan {

/// What is installed for `project`: its requirements, extra packages and own package.
Dependencies project_dependencies(const source::Tree& tree, const project::Project& project);

/// Decides which interpreter runs the program, and adds what apt must bring: the interpreter and
/// pip where the executor image of `plan` lacks them, and what the user asks for. A problem when
/// that image has no apt-get.
void add_system_packages(Plan& plan, const Options& options, Problems& problems);

}  // namespace autopack::plan
