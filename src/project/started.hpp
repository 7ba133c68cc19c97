#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/shell_programs.hpp"

#include <vector>

namespace autopack::project {

/// Looks for the programs of the project that its entry starts, when that is a shell script or a
/// command: `python train.py`, `python -m trainer.task`, `torchrun train.py`, also through other
/// shell scripts. Fills in `started` and `python_path`. Warns of files that bash or the system
/// cannot run.
void read_started(Findings& findings, Project& project);

/// The programs that such an entry surely looks for on PATH, each once. Reads its scripts.
std::vector<UsedProgram> find_used_programs(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
