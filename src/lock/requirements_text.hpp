#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <vector>

namespace autopack::lock {

/// Returns the indexes of the packages in `set`, sorted and unique.
std::vector<std::string> indexes_of(const LockedSet& set);

/// Returns `set` as a requirements file for pip with `--no-deps --require-hashes`: the indexes in
/// addition to those of pip's settings, and a line `name==version --hash=...` for each package.
/// Throws Error(project) that lists all packages that pip cannot install by a hash from an index.
std::string requirements_text(const LockedSet& set);

}  // namespace autopack::lock
