#pragma once

#include "project/findings.hpp"
#include "project/program/shell_programs.hpp"
#include "project/project.hpp"

#include <vector>

namespace autopack::project {

/// Finds the programs of the project that its entry starts, if it is a shell script or a command:
/// `python train.py`, `python -m trainer.task`, `torchrun train.py`, also through other shell
/// scripts. Sets `started` and `python_path`.
void read_started(const Findings& findings, Project& project);

/// The other needs of such an entry.
struct StartNeeds {
  std::vector<UsedProgram> programs{};  ///< that it surely runs from PATH, without duplicates
  Problems problems{};                  ///< files that bash or the system cannot run
};

/// Returns the needs of `project`'s entry. Reads its scripts.
StartNeeds find_start_needs(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
