#pragma once

#include "engine/docker.hpp"
#include "image/source.hpp"
#include "packaging/image_name.hpp"
#include "plan/plan.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace autopack::publish {

/// Returns the registry's current digest for `name`. Also returns nothing if the registry does not
/// answer: the push then reports why.
std::optional<Digest> digest_in_registry(engine::Docker& docker, const image::Reference& name);

/// Returns how many of the lowest layers of `image` the engine has, as part of some image of
/// `candidates`.
std::size_t layers_there(engine::Docker& docker,
                         const image::Source& image,
                         const std::vector<std::string>& candidates);

/// Loads `image` into the engine under `names`, without its lowest `left_out` layers.
void load(engine::Docker& docker,
          const image::Source& image,
          const std::vector<std::string>& names,
          std::size_t left_out);

/// Loads an executor image in files into the engine, under image::build_name, unless it is there.
void load_executor_image(Services& services, const plan::Plan& plan);

/// Makes the docker engine push `reference`, a name in the repository of `name`, which is created
/// as in open_target.
engine::PushResult push_with_engine(Services& services,
                                    const packaging::ImageName& name,
                                    const image::Reference& reference);

}  // namespace autopack::publish
