#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

#include <optional>
#include <string>

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

/// As infer_entry of entry_inference.hpp; if no candidate is clear, returns nothing and leaves
/// `request` unchanged.
std::optional<Inferred> find_entry(const source::Tree& tree, Request& request);

/// Returns the official Python image of a version for `project`: that of `.python-version`, else
/// one that its `requires-python` and other files with a version allow, and 3.11 if nothing names
/// one.
Inferred infer_executor_image(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
