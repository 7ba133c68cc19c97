#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Compares the project's `requires-python` with the interpreter of the executor image. A conflict
/// is an error if the project is installed, because pip refuses it, else a warning. Also warns
/// about versions that other files of `tree` name. Does nothing if the version is unknown.
void check_python_version(Plan& plan,
                          const source::Tree& tree,
                          const project::Project& project,
                          Problems& problems);

}  // namespace autopack::plan
