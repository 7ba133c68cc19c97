#pragma once

#include "source/git_repository.hpp"

namespace autopack::source {

/// Whether something is staged below the directory of `place`. Throws Error(environment) when git's
/// files do not tell.
bool has_staged(const GitPlace& place);

/// Whether a file that git does not know yet is a change.
enum class Untracked { counts, passed_over };

/// Whether a file below the directory of `place` is changed or staged. Throws as has_staged does.
bool has_changes(const GitPlace& place, Untracked untracked);

}  // namespace autopack::source
