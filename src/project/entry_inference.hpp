#pragma once

#include "project/inference.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// What could be meant to run, the likeliest first; none has a reason. Empty when the project has
/// no program.
std::vector<Inferred> entry_choices(const source::Tree& tree, const Request& request);

/// Chooses the entry of `request`, which has none: `train.py` or `main.py` at the root, the only
/// program that trains, the only console script of the project's package, or its only program. A
/// file that imports its own package becomes a module. Throws Error(usage) with the choices there
/// are, and the name of the `directory` for messages, when none stands out.
Inferred infer_entry(const source::Tree& tree, Request& request, const std::string& directory);

}  // namespace autopack::project
