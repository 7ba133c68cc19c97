#pragma once

#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::build {

/// Returns the selection of `work`'s lock, which must exist, for `interpreter`. Throws
/// Error(project) if the lock is unreadable or not for that interpreter.
lock::LockedSet read_locked(const packaging::Packaging& work,
                            const python::Interpreter& interpreter);

/// Throws Error(project) if the executor image, whose Python `facts` describe, lacks a package that
/// the lock leaves to it.
void require_provided(const lock::LockedSet& set, const executor::PythonFacts& facts);

/// The selection of a lock, for pip.
struct LockedRequirements {
  std::string text{};                ///< lines of a requirements file
  std::vector<std::string> hosts{};  ///< of the indexes that the lock names
};

/// Returns the selection of `work`'s lock for the Python of its executor image, and reports
/// warnings about the lock. Throws as above and for packages that pip cannot install by hash;
/// Error(environment) if nothing is known about that Python.
LockedRequirements locked_requirements(Services& services, const packaging::Packaging& work);

}  // namespace autopack::build
