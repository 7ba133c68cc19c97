#pragma once

#include "lock/locked_set.hpp"

namespace autopack::lock {

/// Sorts the packages by name.
void sort_packages(LockedSet& set);

/// Adds the extras of `again` to `first`, and keeps the hashes that both allow. Returns false if
/// their versions or files differ, or they have no hash in common.
bool merge_pins(LockedPackage& first, const LockedPackage& again);

}  // namespace autopack::lock
