#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Adds an error for each wheel that the project names by its file, as a requirement or as an extra
/// package, and whose name says that it is for another Python or another machine than the executor
/// image's: pip refuses it. Adds none if the image's version of Python is not known.
void check_wheel_files(const Plan& plan, const project::Project& project, Problems& problems);

}  // namespace autopack::plan
