#pragma once

#include "engine/wheels/requirements.hpp"
#include "engine/wheels/wheel_set.hpp"
#include "engine/wheels/wheel_source.hpp"
#include "packaging/lazy_image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// How the requirements of `work` will most likely be installed, by what is known on this machine.
struct ExpectedInstallation {
  /// Why only an engine can, one line each; empty: as layers of wheels.
  std::vector<std::string> obstacles{};
  std::optional<std::string> byte_code{};  ///< who makes their byte code; none: nobody
  std::size_t packages{0};  ///< how many are pinned; 0 when the executor image is not known yet
  bool own{false};  ///< the project's own package is among what is installed, made of its files
  /// Which of them are built first, as far as that is known: `` `counter` (a source
  /// distribution)``.
  std::vector<std::string> built{};
};

ExpectedInstallation expected_installation(Services& services, const packaging::Packaging& work);

/// A dependency image that is put together from wheels.
struct WheelImage {
  std::unique_ptr<packaging::LazyImage> image{};  ///< null when it takes an engine
  std::vector<std::string> obstacles{};           ///< why; empty when there is an image
  WheelSet wheels{};
};

/// Puts the requirements of `work` as layers of wheels on `base`, its executor image: what pip
/// would install there, chosen from its indexes, verified, without running anything. Wheels are
/// fetched as far as a layer has to be made of them; if the request is strict, all layers are, and
/// `services` has no notes afterwards. What has no wheel is built into one, where
/// `policy` says how. What is remembered of them is used unless it is to be fresh. `work` must
/// outlive the image. Throws what an index or a wheel that is not sound throws; an index that
/// cannot be reached is an obstacle.
WheelImage make_wheel_image(Services& services,
                            const packaging::Packaging& work,
                            image::Source base,
                            const WheelPolicy& policy);

}  // namespace autopack::engine
