#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirements/requirement_files.hpp"

namespace autopack::project {

/// Reads the block of the requested script: its Python version into `project`, and its dependencies
/// into `sources` if nothing else determines the installation.
void read_script_block(Findings& findings,
                       const Request& request,
                       Project& project,
                       RequirementSources& sources);

/// Warns about dependencies in an unused block that are not installed.
void report_unread_block(Findings& findings,
                         const RequirementSources& sources,
                         const Project& project);

}  // namespace autopack::project
