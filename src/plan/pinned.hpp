#pragma once

#include "plan/plan.hpp"

#include <string>

namespace autopack::plan {

/// Returns true if a normalised requirement line always gives the same package: `==` without a
/// wildcard, a hash, a commit, a file of the project. Options and constraints install nothing.
bool is_pinned(const std::string& line);

/// Returns true if installing `plan` again later may give other packages. Requirements in the
/// project's own metadata, and Debian's packages, count as not pinned.
bool has_unpinned(const Plan& plan, const project::Project& project);

}  // namespace autopack::plan
