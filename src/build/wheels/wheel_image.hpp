#pragma once

#include "build/wheels/requirements.hpp"
#include "build/wheels/wheel_set.hpp"
#include "build/wheels/wheel_source.hpp"
#include "packaging/lazy_image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The expected way to install the requirements of `work`, from what is known on this machine.
struct ExpectedInstallation {
  /// Why an engine is required, one line each; empty: as layers of wheels.
  std::vector<std::string> obstacles{};
  std::optional<std::string> byte_code{};  ///< who makes their byte code; absent: nobody
  std::size_t packages{0};  ///< number of pinned ones; 0 if the executor image is not known yet
  bool own{false};          ///< the project's own package is included, made from its files
  /// Packages that are built first, as far as known: `` `counter` (a source distribution)``.
  std::vector<std::string> built{};
};

ExpectedInstallation expected_installation(Services& services, const packaging::Packaging& work);

/// A dependency image made from wheels.
struct WheelImage {
  std::unique_ptr<packaging::LazyImage> image{};  ///< null if an engine is required
  std::vector<std::string> obstacles{};           ///< the reasons; empty if there is an image
  WheelSet wheels{};
};

/// Puts the requirements of `work` as layers of wheels on `base`, its executor image: what pip
/// would install there, chosen from its indexes and verified, without running anything. Fetches
/// wheels only for layers that must be made; if the request is strict, all layers are made and
/// `services` has no notes afterwards. Builds packages without a wheel, if `policy` has a build.
/// Uses cached choices unless they must be fresh. `work` must outlive the image. Throws as an index
/// does, and for an invalid wheel; an unreachable index is an obstacle.
WheelImage make_wheel_image(Services& services,
                            const packaging::Packaging& work,
                            image::Source base,
                            const WheelPolicy& policy);

}  // namespace autopack::build
