#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Adds an error for each wheel file that the project names, as a requirement or as an extra
/// package, if its name is for another Python or machine than the executor image's: pip refuses it.
/// Adds none if the image's version of Python is unknown.
void check_wheel_files(const Plan& plan, const project::Project& project, Problems& problems);

}  // namespace autopack::plan
