#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// A choice that the user left open, inferred from the project.
struct Inferred {
  std::string what{};    ///< `script`
  std::string value{};   ///< `train.py`
  std::string reason{};  ///< `the only file with a __main__ guard`
  std::string flag{};    ///< the flag for the choice: `--script`
};

/// Makes `entry` the entry point of `request`.
void choose_entry(const Inferred& entry, Request& request);

/// Returns the possible entry points, the most likely first, without reasons. Empty if the project
/// has no program.
std::vector<Inferred> entry_choices(const source::Tree& tree, const Request& request);

/// Chooses the entry of `request`, which has none: `train.py` or `main.py` at the root, the only
/// program that trains, the only console script of the project's package, or its only program. A
/// file that imports its own package becomes a module. If no candidate is clear, throws
/// Error(usage) with the choices, and the name of the `directory` for messages.
Inferred infer_entry(const source::Tree& tree, Request& request, const std::string& directory);

/// As infer_entry; if no candidate is clear, returns nothing and leaves `request` unchanged.
std::optional<Inferred> find_entry(const source::Tree& tree, Request& request);

/// Returns the official Python image of a version for `project`: that of `.python-version`, else
/// one that its `requires-python` and other files with a version allow, and 3.11 if nothing names
/// one.
Inferred infer_executor_image(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
