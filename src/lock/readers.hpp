#pragma once

#include "lock/locked_set.hpp"
#include "source/tree.hpp"

#include <string>
#include <string_view>

namespace autopack::lock {

// Each function reads the text of a lock at `file` in the tree and selects the packages for
// `target`: no development groups unless requested, and not the project itself. Throws
// Error(project) with the place for a lock that is invalid or not for this interpreter, and
// Error(usage) for an unknown extra or group.

/// Reads `pylock.toml`, as specified on packaging.python.org.
LockedSet read_pylock(std::string_view text, const std::string& file, const Target& target);

/// Reads `uv.lock`, version 1. Warns if pyproject.toml has other requirements.
LockedSet read_uv_lock(std::string_view text, const std::string& file, const Target& target);

/// Reads `poetry.lock` from 2.1 on. Older ones leave the selection to Poetry, so it refuses them.
LockedSet read_poetry_lock(std::string_view text, const std::string& file, const Target& target);

/// Reads `pdm.lock` 4 with the strategy `inherit_metadata`. Others leave the selection to PDM, so
/// it refuses them.
LockedSet read_pdm_lock(std::string_view text, const std::string& file, const Target& target);

/// Reads `Pipfile.lock` 6. Its categories are the groups; `dev` means `develop`.
LockedSet read_pipfile_lock(std::string_view text, const std::string& file, const Target& target);

/// Reads the lock at `file` in any of the formats of project::lock_format; see readers.hpp. Throws
/// Error(usage) for another name.
LockedSet read_lock(const source::Tree& tree, const std::string& file, const Target& target);

}  // namespace autopack::lock
