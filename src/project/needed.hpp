#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// Takes in what git ignores and the program imports or names: generated modules, built extensions,
/// small files that a string of its code leads to.
void keep_what_is_needed(Findings& findings, const Project& project);

/// Warns of submodules whose directories are empty.
void tell_empty_submodules(Findings& findings);

}  // namespace autopack::project
