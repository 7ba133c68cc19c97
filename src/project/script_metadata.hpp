#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirement_files.hpp"

namespace autopack::project {

/// Reads the block of the script that the request names: its Python version into `project`, and
/// what it depends on into `sources` where nothing else says what is installed.
void read_script_block(Findings& findings,
                       const Request& request,
                       Project& project,
                       RequirementSources& sources);

/// Warns of what a block that is not installed names besides what is.
void report_unread_block(Findings& findings,
                         const RequirementSources& sources,
                         const Project& project);

}  // namespace autopack::project
