#pragma once

#include "base/error.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"

namespace autopack::project {

/// If the entry of `project` is a notebook, replaces in `problems` each line of its program, as in
/// `` `train.py` line 7`` and `train.py:7`, by the cell and the line in it. `tree` has the program.
void name_cells(Problems& problems, const source::Tree& tree, const Project& project);

}  // namespace autopack::project
