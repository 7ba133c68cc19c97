#pragma once

#include "source/git_functions.hpp"

namespace autopack::source {

/// Has the objects that stand alone in files of `repository` looked at before libgit2 reads them:
/// it never ends on one whose data ends early, and writes behind its memory for one that holds more
/// than its header says. Such a one fails to be read, and git_reason() names it.
void guard_loose_objects(git_repository* repository);

}  // namespace autopack::source
