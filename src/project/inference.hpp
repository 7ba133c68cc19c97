#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// A choice that the user left open, as the project suggests it.
struct Inferred {
  std::string what{};    ///< `script`
  std::string value{};   ///< `train.py`
  std::string reason{};  ///< `the only file with a __main__ guard`
  std::string flag{};    ///< that makes the choice: `--script`
};

/// What could be meant to run: the Python files of the root, then the programs of
/// `[project.scripts]`; none has a reason.
std::vector<Inferred> entry_choices(const source::Tree& tree);

/// Has `request` start what `entry` says.
void choose_entry(const Inferred& entry, Request& request);

/// Chooses the entry of `request`, which has none: the only Python file of the root with a
/// `__main__` guard; else `train.py`, `main.py`, `trainer/task.py`, the only program of
/// `[project.scripts]`, or the only Python file of the root. Throws Error(usage) with the choices
/// there are when none stands out.
Inferred infer_entry(const source::Tree& tree, Request& request);

/// The same; none, and `request` as it was, when none stands out.
std::optional<Inferred> find_entry(const source::Tree& tree, Request& request);

/// The official Python image of a version that suits `project`: that of `.python-version`, else one
/// that its `requires-python` allows, and 3.11 for one that says nothing.
Inferred infer_executor_image(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
