#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirement_files.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// Reads the requirement files and the lines for pip of `sources`, and all they name, into
/// `project`, whose `package` is known already. What is wrong goes to `findings`.
void read_requirements(Findings& findings,
                       const Request& request,
                       const RequirementSources& sources,
                       Project& project);

/// Reads the constraints that the settings of this machine's pip name into `project`, if pip has
/// something to choose for it. What is wrong goes to `findings`.
void read_user_constraints(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
