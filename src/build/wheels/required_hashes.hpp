#pragma once

#include "lock/locked_set.hpp"
#include "project/project.hpp"
#include "python/interpreter.hpp"

namespace autopack::build {

/// Checks a resolved `set` against the hashes in the requirements of `project`, which uv does not
/// do. Like pip, requires a hash for each package of requirements files if one has a hash. Throws
/// Error(project) that names each package whose file has another hash or none.
void check_required_hashes(const project::Project& project,
                           const lock::LockedSet& set,
                           const python::Interpreter& interpreter);

}  // namespace autopack::build
