#pragma once

#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::engine {

/// What the lock of `work`, which must have one, chooses for `interpreter`. Throws Error(project)
/// for a lock that cannot be read or is not for it.
lock::LockedSet read_locked(const packaging::Packaging& work,
                            const python::Interpreter& interpreter);

/// What a lock chooses, for pip.
struct LockedRequirements {
  std::string text{};                ///< lines of a requirements file
  std::vector<std::string> hosts{};  ///< of the indexes that the lock names
};

/// What the lock of `work` chooses for the Python of its executor image. What is odd about the lock
/// is told. Throws as above, for what pip cannot install by its hash, and Error(environment) when
/// nothing is known of that Python.
LockedRequirements locked_requirements(Services& services, const packaging::Packaging& work);

}  // namespace autopack::engine
