#pragma once

#include "lock/locked_set.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::lock {

/// The pins of requirement files and flags.
struct Pins {
  std::optional<LockedSet> set{};
  std::string reason{};  ///< reason why there is no set: `not a complete set of pins: ...`
};

/// Returns the requirements of `project` as a set if every requirement whose marker holds is pinned
/// by `==` or is a file, and no option changes the selection. With hashes, the set is complete, as
/// in pip. The requirements of the project's own package, `of_package`, must be pinned too, unless
/// another pin satisfies them.
Pins read_pins(const project::Project& project,
               const python::Interpreter& interpreter,
               const std::vector<std::string>& of_package = {});

}  // namespace autopack::lock
