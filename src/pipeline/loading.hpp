#pragma once

#include "pipeline/age.hpp"
#include "pipeline/package.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// How many of the lowest layers of `image` the engine has, as those of some image there.
std::size_t layers_there(engine::Docker& docker,
                         const image::Source& image,
                         const std::vector<std::string>& candidates);

/// Loads `image` into the engine under `names`, without its lowest `left_out` layers.
void load(engine::Docker& docker,
          const image::Source& image,
          const std::vector<std::string>& names,
          std::size_t left_out);

/// The dependency image in the engine.
struct DependencyImage {
  std::string id{};
  std::vector<std::string> made{};  ///< what it holds of the project's files: plan::placed_code
};

/// The dependency image of `plan`, which is built when it is missing, too old for `limit`, or when
/// the installation of the project's package does not hold any more.
DependencyImage dependencies_in_engine(Services& services,
                                       const PackageRequest& request,
                                       const Scanned& scanned,
                                       const plan::Plan& plan,
                                       const AgeLimit& limit,
                                       const ImageName& name);

/// An image that was put together and loaded.
struct Loaded {
  std::string image_id{};
  std::vector<engine::PushResult::Layer> layers{};  ///< those on top of the dependencies
};

/// Has the image of `plan` in the engine without a build: the code is loaded on the dependency
/// image there, which alone is built when it is missing, or too old for `limit`. None when the
/// engine takes no part of an image.
std::optional<Loaded> load_code(Services& services,
                                const PackageRequest& request,
                                const Scanned& scanned,
                                const plan::Plan& plan,
                                const AgeLimit& limit,
                                const ImageName& name);

}  // namespace autopack::pipeline
