#pragma once

#include "plan/plan.hpp"

#include <string>
#include <vector>

namespace autopack::plan {

/// Returns the copies of the image's code step: extras from outside, then the whole working
/// directory.
std::vector<Copy> code_copies(const project::Project& project);

/// Returns the copies of the requirements stage: everything that pip reads, each at its own path.
std::vector<Copy> requirement_copies(const source::Tree& tree, const project::Project& project);

/// Returns the files that describe the project's own package.
std::vector<Copy> package_files(const source::Tree& tree, const project::Package& package);

/// Returns the lock, for the key; empty if there is none.
std::vector<Copy> lock_files(const source::Tree& tree, const project::Project& project);

}  // namespace autopack::plan
