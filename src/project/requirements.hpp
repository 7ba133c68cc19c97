#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// Reads `requirements.txt` at the root, when it is there, and all it names into `project`, whose
/// `package` is known already. What is wrong goes to `findings`.
void read_requirements(Findings& findings, Project& project);

}  // namespace autopack::project
