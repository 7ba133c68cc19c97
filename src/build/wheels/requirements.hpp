#pragma once

#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// Returns why the plan of `work` requires an engine for its requirements, one line each; empty if
/// wheels may be enough.
std::vector<std::string> obstacles_to_wheels(const packaging::Packaging& work);

/// The packages to install, and the target.
struct Requirements {
  executor::PythonFacts facts{};         ///< of the executor image; with a set, of its interpreter
  std::optional<lock::LockedSet> set{};  ///< absent: only an engine can resolve them
  std::vector<std::string> obstacles{};  ///< the reasons, one line each
};

/// Returns the selection of `work`'s lock, or of the pins in its requirement files, and its extra
/// packages, for the Python in `facts`, that of its executor image. Throws Error(project) if the
/// lock is unreadable or not for that Python.
Requirements find_requirements(const packaging::Packaging& work, executor::PythonFacts facts);

}  // namespace autopack::build
