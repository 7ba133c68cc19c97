#pragma once

#include "build/wheels/chosen_file.hpp"
#include "build/wheels/wheel_source.hpp"
#include "index/wheel_cache.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>

namespace autopack::build {

/// Returns the inputs of a build for `work` besides its source, as one text: the executor image,
/// the platform, the time of files and the variables.
std::string inputs_of_builds(const Services& services, const packaging::Packaging& work);

/// Caches the wheels built from sources on the executor image of a plan. Their key contains the
/// source, the image, the platform and the variables of the build.
class BuiltWheels {
public:
  /// A `policy` without a build returns only wheels that were built before.
  BuiltWheels(Services& services,
              const packaging::Packaging& work,
              index::WheelCache& wheels,
              WheelPolicy policy);

  /// Returns nothing if it was not built yet, its wheel is gone, or a fresh build is required.
  std::optional<ChosenFile> find(const WheelSource& source) const;

  bool can_build() const { return static_cast<bool>(policy_.build); }

  /// Builds it, even if it was built before. Throws as the build does, and Error(project) if the
  /// result is not a valid wheel.
  ChosenFile build(const WheelSource& source) const;

private:
  std::string key(const WheelSource& source) const;

  Services& services_;
  index::WheelCache& wheels_;
  WheelPolicy policy_;
  std::string inputs_;  ///< inputs_of_builds()
};

}  // namespace autopack::build
