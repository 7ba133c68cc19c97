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

/// Adds an error for each wheel file that the project names, as a requirement or as an extra
/// package, if its name is for another Python or machine than the executor image's: pip refuses it.
/// Adds nothing if the image's version of Python is unknown.
void check_wheel_files(const Plan& plan, const project::Project& project, Problems& problems);

}  // namespace autopack::plan
