#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <string_view>

namespace autopack::lock {

// Each reads the text of a lock that stands at `file` in the tree and chooses what `target` takes:
// without groups for development unless they are asked for, and without the project itself. Throws
// Error(project) for a lock that cannot be read or is not for this interpreter, with the place, and
// Error(usage) for an extra or a group that it does not know.

/// `pylock.toml`, as packaging.python.org's specification of it says.
LockedSet read_pylock(std::string_view text, const std::string& file, const Target& target);

/// `uv.lock`, version 1. Warns when pyproject.toml asks for something else.
LockedSet read_uv_lock(std::string_view text, const std::string& file, const Target& target);

/// `poetry.lock` from 2.1 on: older ones leave the choice to Poetry, and are refused.
LockedSet read_poetry_lock(std::string_view text, const std::string& file, const Target& target);

/// `pdm.lock` 4 with the strategy `inherit_metadata`: others leave the choice to PDM, and are
/// refused.
LockedSet read_pdm_lock(std::string_view text, const std::string& file, const Target& target);

/// `Pipfile.lock` 6. Groups are its categories; `dev` is `develop`.
LockedSet read_pipfile_lock(std::string_view text, const std::string& file, const Target& target);

}  // namespace autopack::lock
