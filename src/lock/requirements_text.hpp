#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <vector>

namespace autopack::lock {

/// The indexes that the packages of `set` come from, sorted, each once.
std::vector<std::string> indexes_of(const LockedSet& set);

/// `set` as a requirements file for pip with `--no-deps --require-hashes`: the indexes that it
/// names besides those of pip's settings, and a line `name==version --hash=...` for each package.
/// Throws Error(project) with all packages that pip cannot install by a hash from an index.
std::string requirements_text(const LockedSet& set);

}  // namespace autopack::lock
