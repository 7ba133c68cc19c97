#pragma once

#include "source/git_repository.hpp"

namespace autopack::source {

/// Returns whether something is staged below the directory of `place`. Throws Error(environment) if
/// git's files are unreadable.
bool has_staged(const GitPlace& place);

/// Whether an untracked file counts as a change.
enum class Untracked { counts, passed_over };

/// Returns whether a file below the directory of `place` is changed or staged. Throws as has_staged
/// does.
bool has_changes(const GitPlace& place, Untracked untracked);

}  // namespace autopack::source
