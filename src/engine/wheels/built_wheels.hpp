#pragma once

#include "engine/wheels/chosen_file.hpp"
#include "engine/wheels/wheel_source.hpp"
#include "index/wheel_cache.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>

namespace autopack::engine {

/// The wheels that were built from sources on the executor image of a plan, each once: known by
/// the source, the image, the platform and the variables of the build.
class BuiltWheels {
public:
  /// `policy` without a build: then only what was built before is there.
  BuiltWheels(Services& services,
              const packaging::Packaging& work,
              index::WheelCache& wheels,
              WheelPolicy policy);

  /// None when it was not built yet, its wheel is gone, or it is to be built anew.
  std::optional<ChosenFile> find(const WheelSource& source) const;

  bool can_build() const { return static_cast<bool>(policy_.build); }

  /// Builds it, whether it was built before or not. Throws what the build throws, and
  /// Error(project) when it gives no sound wheel.
  ChosenFile build(const WheelSource& source) const;

private:
  std::string key(const WheelSource& source) const;

  Services& services_;
  index::WheelCache& wheels_;
  WheelPolicy policy_;
  std::string place_;  ///< what a wheel depends on besides its source
};

}  // namespace autopack::engine
