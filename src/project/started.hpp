#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/shell_programs.hpp"

#include <vector>

namespace autopack::project {

/// Looks for the programs of the project that its entry starts, when that is a shell script or a
/// command: `python train.py`, `python -m trainer.task`, `torchrun train.py`, also through other
/// shell scripts. Fills in `started` and `python_path`.
void read_started(const Findings& findings, Project& project);

/// What such an entry needs besides these.
struct StartNeeds {
  std::vector<UsedProgram> programs{};  ///< that it surely looks for on PATH, each once
  Problems problems{};                  ///< files that bash or the system cannot run
};

/// What the entry of `project` needs. Reads its scripts.
StartNeeds find_start_needs(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
