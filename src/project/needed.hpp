#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// Takes in what git ignores and the program imports or names: generated modules, built extensions,
/// files that strings of its code lead to, unless they are large. Warns of those, of files that it
/// opens and another rule leaves out, and of submodules that it needs and that were not fetched.
/// Records what the Python files that it read say.
void keep_what_is_needed(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
