#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// A choice that the user left open, as the project suggests it.
struct Inferred {
  std::string what{};    ///< `script`
  std::string value{};   ///< `train.py`
  std::string reason{};  ///< `the only file with a __main__ guard`
  std::string flag{};    ///< that makes the choice: `--script`
};

/// Has `request` start what `entry` says.
void choose_entry(const Inferred& entry, Request& request);

/// As infer_entry of entry_inference.hpp; nothing, and `request` as it was, when none stands out.
std::optional<Inferred> find_entry(const source::Tree& tree, Request& request);

/// The official Python image of a version that suits `project`: that of `.python-version`, else one
/// that its `requires-python` and other files that name a version allow, and 3.11 for one that says
/// nothing.
Inferred infer_executor_image(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
