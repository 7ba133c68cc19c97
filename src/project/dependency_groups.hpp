#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// The requirements of the groups that the request names, `[dependency-groups]` of pyproject.toml
/// (PEP 735).
std::vector<std::string> read_groups(Findings& findings, const Request& request);

/// Asks for the extras of the request; one that pyproject.toml does not define is an error.
void read_package_extras(Findings& findings, const Request& request, Project& project);

}  // namespace autopack::project
