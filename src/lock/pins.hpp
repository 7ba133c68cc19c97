#pragma once

#include "lock/locked_set.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::lock {

/// What requirement files and flags pin.
struct Pins {
  std::optional<LockedSet> set{};
  std::string reason{};  ///< why there is no set: `not a complete set of pins: ...`
};

/// The requirements of `project` as a set, when each that its markers leave is pinned by `==`, or
/// is a file, and no option asks for something else; with hashes the set is complete as pip sees
/// it. So must be what the project's own package asks for, `of_package`, unless a pin is what it
/// asks for.
Pins read_pins(const project::Project& project,
               const python::Interpreter& interpreter,
               const std::vector<std::string>& of_package = {});

}  // namespace autopack::lock
