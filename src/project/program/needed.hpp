#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// Includes files that git ignores and the program imports or names: generated modules, built
/// extensions, files named in strings of its code, unless they are large. Warns about these, about
/// files that it opens and another rule excludes, and about submodules that it needs and that were
/// not fetched. Records the contents of the Python files that it read.
void keep_what_is_needed(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
