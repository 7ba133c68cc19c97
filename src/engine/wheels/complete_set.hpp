#pragma once

#include "engine/wheels/chosen_file.hpp"
#include "engine/wheels/package_index.hpp"
#include "lock/locked_set.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// A set, and the file that was chosen for each of its packages.
struct ChosenSet {
  const lock::LockedSet& set;
  std::vector<ChosenFile> files{};  ///< in the order of the set
  /// By their places, those whose metadata the index tells, which was asked just now.
  const std::map<std::size_t, index::Candidate>& offered;
  const python::Interpreter& interpreter;
  /// Tells the interpreter, as far as a choice depends on it, from others.
  const std::string& target;
};

/// What a set lacks by the metadata of its wheels, in words; none when it lacks nothing. Of a set
/// that is said to be complete those at hand are looked at, else all; a wheel whose metadata the
/// index tells is not fetched for that.
std::optional<std::string> missing_from(Services& services,
                                        PackageIndex& index,
                                        const ChosenSet& chosen);

}  // namespace autopack::engine
