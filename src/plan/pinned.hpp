#pragma once

#include "plan/plan.hpp"

#include <string>

namespace autopack::plan {

/// True when a normalised requirement line gives the same package each time: `==` without a
/// wildcard, a hash, a commit, a file of the project; options and constraints install nothing.
bool is_pinned(const std::string& line);

/// True when installing `plan` again later may give other packages. Those that the project's own
/// metadata names, and Debian's, count as not pinned.
bool has_unpinned(const Plan& plan, const project::Project& project);

}  // namespace autopack::plan
