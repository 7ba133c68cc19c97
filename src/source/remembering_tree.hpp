#pragma once

#include "source/tree.hpp"

#include <memory>

namespace autopack::source {

/// Returns a tree that caches each directory of `tree` when it is first listed. Later walks and
/// lookups in a cached directory, or below a path that is not a directory, do not read the disk.
std::shared_ptr<const Tree> remembering(std::shared_ptr<const Tree> tree);

}  // namespace autopack::source
