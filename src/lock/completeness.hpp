#pragma once

#include "lock/locked_set.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::lock {

/// The dependencies in a wheel's METADATA.
struct Needs {
  std::vector<std::string> requirements{};  ///< its `Requires-Dist` lines
  std::optional<std::string> origin{};      ///< their source for messages; absent: the package
};

/// Returns the requirements of packages that `set` does not pin, or pins to another version: one
/// line each, empty if the set is complete. `needs` holds those of the chosen wheels by name (PEP
/// 503); a package without an entry has none. `project` holds those of the project itself.
/// Considers the extras of the set and those that packages request of each other; evaluates markers
/// for `interpreter`.
std::vector<std::string> missing_requirements(const LockedSet& set,
                                              const std::map<std::string, Needs>& needs,
                                              const Needs& project,
                                              const python::Interpreter& interpreter);

}  // namespace autopack::lock
