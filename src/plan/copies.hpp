#pragma once

#include "plan/plan.hpp"

#include <string>
#include <vector>

namespace autopack::plan {

/// What the image's code step copies: extras from outside, and the whole working directory last.
std::vector<Copy> code_copies(const project::Project& project);

/// What the requirements stage copies: all that pip reads, each at its own path.
std::vector<Copy> requirement_copies(const source::Tree& tree, const project::Project& project);

/// The files that describe the project's own package.
std::vector<Copy> package_files(const source::Tree& tree, const project::Package& package);

/// The lock, for the key; none when there is none.
std::vector<Copy> lock_files(const source::Tree& tree, const project::Project& project);

}  // namespace autopack::plan
