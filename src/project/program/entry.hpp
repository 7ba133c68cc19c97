#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>

namespace autopack::project {

/// Finds the entry point, from `script`, `module` or `command` of the request, in a project whose
/// package and requirements are known.
void read_entry(Findings& findings, const Request& request, Project& project);

/// Returns the file that `python -m module` runs below `root`; nothing if there is none.
std::optional<std::string> module_file(const Findings& findings,
                                       const std::string& root,
                                       const std::string& module);

}  // namespace autopack::project
