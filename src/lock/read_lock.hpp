#pragma once

#include "lock/locked_set.hpp"
#include "source/tree.hpp"

#include <string>

namespace autopack::lock {

/// Reads the lock at `file` in any of the formats of project::lock_format; see readers.hpp. Throws
/// Error(usage) for another name.
LockedSet read_lock(const source::Tree& tree, const std::string& file, const Target& target);

}  // namespace autopack::lock
