#pragma once

#include "engine/wheels/package_index.hpp"
#include "engine/wheels/wheel_source.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "python/interpreter.hpp"
#include "wheel/layers.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopack::engine {

/// A wheel for each package of a set.
struct WheelChoice {
  lock::LockedSet set{};                      ///< with the names and versions that builds tell
  std::vector<wheel::ChosenWheel> wheels{};   ///< in the order of the set
  std::map<Digest, index::Download> files{};  ///< where to fetch each of them
  /// Why only an engine can install it, one line each; empty: wheels do.
  std::vector<std::string> obstacles{};
};

/// A set whose wheels are wanted.
struct WantedSet {
  lock::LockedSet set{};
  const python::Interpreter& interpreter;
  const WheelPolicy& policy;
};

/// Chooses the wheels of `wanted`, what the project `work` installs, as pip would: from what is
/// remembered of a former choice unless it is to be fresh, from the files that a lock names or that
/// lie in the project, else from `index`. A wheel whose digest nobody tells is fetched. What has no
/// wheel is built into one, unless it was before; where nothing builds it is an obstacle. So is
/// what the set lacks by the metadata of the wheels, as far as they are at hand; of a set without
/// hashes all is looked at. Throws what the index and a build throw.
WheelChoice choose_wheels(Services& services,
                          const packaging::Packaging& work,
                          const std::shared_ptr<PackageIndex>& index,
                          WantedSet wanted);

}  // namespace autopack::engine
