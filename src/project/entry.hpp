#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>

namespace autopack::project {

/// Finds what runs, from `script`, `module` or `command` of the request, in a project whose package
/// and requirements are read.
void read_entry(Findings& findings, const Request& request, Project& project);

/// The file that `python -m module` runs below `root`; none when there is none.
std::optional<std::string> module_file(const Findings& findings,
                                       const std::string& root,
                                       const std::string& module);

/// `path` below the tree whether it is absolute or not; none when it leads out.
std::optional<std::string> path_in_tree(const Request& request, const std::string& path);

}  // namespace autopack::project
