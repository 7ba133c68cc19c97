#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// Returns the requirements of the requested groups, `[dependency-groups]` of pyproject.toml (PEP
/// 735).
std::vector<std::string> read_groups(Findings& findings, const Request& request);

/// Adds the requested extras; one that pyproject.toml does not define is an error.
void read_package_extras(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
