#pragma once

#include "project/program/inference.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// Returns the possible entry points, the most likely first, without reasons. Empty if the project
/// has no program.
std::vector<Inferred> entry_choices(const source::Tree& tree, const Request& request);

/// Chooses the entry of `request`, which has none: `train.py` or `main.py` at the root, the only
/// program that trains, the only console script of the project's package, or its only program. A
/// file that imports its own package becomes a module. If no candidate is clear, throws
/// Error(usage) with the choices, and the name of the `directory` for messages.
Inferred infer_entry(const source::Tree& tree, Request& request, const std::string& directory);

}  // namespace autopack::project
