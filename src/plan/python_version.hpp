#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Finds the project's `requires-python` at odds with the interpreter of the executor image: an
/// error when the project is installed, which pip refuses, else a warning; and warns of versions
/// that other files of `tree` name. Nothing when the version is not known.
void check_python_version(Plan& plan,
                          const source::Tree& tree,
                          const project::Project& project,
                          Problems& problems);

}  // namespace autopack::plan
