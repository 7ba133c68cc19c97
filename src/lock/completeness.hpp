#pragma once

#include "lock/locked_set.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::lock {

/// What a wheel's METADATA says that it needs.
struct Needs {
  std::vector<std::string> requirements{};  ///< its lines `Requires-Dist`
  std::optional<std::string> origin{};      ///< who says so; none: the package
};

/// What the packages of `set` need and `set` does not pin, or pins otherwise: one line each, empty
/// when the set is complete. `needs` are those of the chosen wheels by name (PEP 503); a package
/// without an entry needs nothing. `project` is what the project itself needs. The extras of the
/// set and those that packages ask of each other count, markers are judged for `interpreter`.
std::vector<std::string> missing_requirements(const LockedSet& set,
                                              const std::map<std::string, Needs>& needs,
                                              const Needs& project,
                                              const python::Interpreter& interpreter);

}  // namespace autopack::lock
