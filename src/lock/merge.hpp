#pragma once

#include "lock/locked_set.hpp"

namespace autopack::lock {

/// Puts the packages in the order of their names.
void sort_packages(LockedSet& set);

/// Adds the extras of `again` to `first`, and leaves the hashes that both allow; false when they
/// have other versions, files or no hash in common.
bool merge_pins(LockedPackage& first, const LockedPackage& again);

}  // namespace autopack::lock
