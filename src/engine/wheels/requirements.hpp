#pragma once

#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Why the requirements of `work` take an engine, as far as its plan alone tells, one line each;
/// empty when wheels may do.
std::vector<std::string> obstacles_to_wheels(const packaging::Packaging& work);

/// What is to be installed, and for whom.
struct Requirements {
  executor::PythonFacts facts{};         ///< of the executor image; with a set, of its interpreter
  std::optional<lock::LockedSet> set{};  ///< none: only an engine can tell
  std::vector<std::string> obstacles{};  ///< why, one line each
};

/// What the lock of `work`, or the pins of its requirement files, and its extra packages choose for
/// the Python of its executor image, of which `facts` tell. Throws Error(project) for a lock that
/// cannot be read or is not for it.
Requirements find_requirements(const packaging::Packaging& work, executor::PythonFacts facts);

}  // namespace autopack::engine
