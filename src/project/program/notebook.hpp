#pragma once

#include "base/error.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Something in a notebook that no Python program can do.
struct NotebookFault {
  std::string message{};
  int cell{0};  ///< 1-based; 0: the notebook itself
  int line{0};  ///< 1-based, within the cell
  std::vector<std::string> hints{};
};

/// The code cells of a notebook as a Python program.
struct TranslatedNotebook {
  std::string program{};
  std::vector<NotebookLine> lines{};  ///< for pip
  std::vector<NotebookFault> faults{};
};

/// Translates the text of a notebook (nbformat 4). Returns all faults; then the program is
/// incomplete.
TranslatedNotebook translate_notebook(std::string_view text);

/// If the script of `request` is a notebook in `tree`, returns the tree with the program beside it,
/// and makes that the script. If it has a Dockerfile that autopack generated for a notebook,
/// returns the tree with that program. Otherwise returns `tree`. Throws Error(project) with all
/// faults.
std::shared_ptr<const source::Tree> with_notebook(std::shared_ptr<const source::Tree> tree,
                                                  Request& request);

/// If the entry of `project` is a notebook, replaces in `problems` each line of its program, as in
/// `` `train.py` line 7`` and `train.py:7`, by the cell and the line in it. `tree` has the program.
void name_cells(Problems& problems, const source::Tree& tree, const Project& project);

}  // namespace autopack::project
