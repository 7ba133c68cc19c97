#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// Reads the requirement files `files` and all they name into `project`, whose `package` is known
/// already. What is wrong goes to `findings`.
void read_requirements(Findings& findings, const std::vector<std::string>& files, Project& project);

}  // namespace autopack::project
