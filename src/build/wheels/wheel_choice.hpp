#pragma once

#include "build/wheels/package_index.hpp"
#include "build/wheels/wheel_source.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "wheel/layers.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopack::build {

/// A wheel for each package of a set.
struct WheelChoice {
  lock::LockedSet set{};                     ///< with the names and versions that builds determine
  std::vector<wheel::ChosenWheel> wheels{};  ///< in the order of the set
  /// The source of each of them; absent for one that only a build makes again.
  std::map<Digest, index::Download> files{};
  std::map<std::string, std::string> built{};  ///< facts about built ones, for the repository
  /// Why an engine is required, one line each; empty: wheels are enough.
  std::vector<std::string> obstacles{};
  /// The obstacle is that the set lacks packages that it requires, or that the index lacks one.
  bool is_incomplete{false};
};

/// A set for which to choose wheels.
struct WantedSet {
  lock::LockedSet set{};
  const python::Interpreter& interpreter;
  const WheelPolicy& policy;
};

/// Chooses the wheels of `wanted`, the requirements of the project `work`, as pip would: from the
/// cached choice unless it must be fresh, from the files that a lock names or that are in the
/// project, else from `index`. Fetches a wheel whose digest is unknown. A package without a wheel
/// is built, unless it was built before. It is an obstacle if nothing can build it. So are
/// dependencies that the set lacks according to the metadata of available wheels; for a set without
/// hashes, all metadata is read. Throws as the index and a build do.
WheelChoice choose_wheels(Services& services,
                          const packaging::Packaging& work,
                          const std::shared_ptr<PackageIndex>& index,
                          WantedSet wanted);

}  // namespace autopack::build
