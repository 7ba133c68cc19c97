#pragma once

#include "build/wheels/chosen_file.hpp"
#include "build/wheels/package_index.hpp"
#include "lock/locked_set.hpp"
#include "python/interpreter.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// A set, and the selected file of each of its packages.
struct ChosenSet {
  const lock::LockedSet& set;
  std::vector<ChosenFile> files{};  ///< in the order of the set
  /// By position, files whose metadata the index provides; just received from the index.
  const std::map<std::size_t, index::Candidate>& offered;
  const python::Interpreter& interpreter;
  /// Identifies the parts of the interpreter that affect a choice.
  const std::string& target;
};

/// Returns the dependencies that a set lacks according to the metadata of its wheels, in words;
/// nothing if it is complete. For a set that claims to be complete, reads only cached wheels, else
/// all. Does not fetch a wheel whose metadata the index provides.
std::optional<std::string> missing_from(Services& services,
                                        PackageIndex& index,
                                        const ChosenSet& chosen);

}  // namespace autopack::build
