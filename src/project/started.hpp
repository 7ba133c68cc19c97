#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// Looks for the Python programs that the entry of `project` starts, when that is a shell script or
/// a command: `python train.py`, `python -m trainer.task`, `torchrun train.py`, also through other
/// shell scripts. Fills in `started` and `python_path`.
void read_started(const Findings& findings, Project& project);

}  // namespace autopack::project
