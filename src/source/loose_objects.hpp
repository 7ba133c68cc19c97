#pragma once

#include "source/git_functions.hpp"

namespace autopack::source {

/// Makes libgit2 check the loose objects of `repository` before it reads them: it loops forever on
/// truncated data, and writes out of bounds if an object is larger than its header says. Reading
/// such an object fails, and git_reason() names it.
void guard_loose_objects(git_repository* repository);

}  // namespace autopack::source
