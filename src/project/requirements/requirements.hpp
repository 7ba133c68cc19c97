#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirements/requirement_files.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// Reads the requirement files and the lines for pip of `sources`, and everything that they name,
/// into `project`, whose `package` is already known. Reports errors in `findings`.
void read_requirements(Findings& findings,
                       const Request& request,
                       const RequirementSources& sources,
                       Project& project);

/// Reads the constraints in the settings of this machine's pip into `project`, if pip has a choice.
/// Reports errors in `findings`.
void read_user_constraints(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
