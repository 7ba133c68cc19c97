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

/// The digest that the registry has for `name` now; none also when it does not answer: the push
/// will tell why.
std::optional<Digest> digest_in_registry(engine::Docker& docker, const image::Reference& name);

/// How many of the lowest layers of `image` the engine has, as those of some image there.
std::size_t layers_there(engine::Docker& docker,
                         const image::Source& image,
                         const std::vector<std::string>& candidates);

/// Loads `image` into the engine under `names`, without its lowest `left_out` layers.
void load(engine::Docker& docker,
          const image::Source& image,
          const std::vector<std::string>& names,
          std::size_t left_out);

/// Sees to it that the engine has an executor image that is in files, under image::build_name.
void load_executor_image(Services& services, const plan::Plan& plan);

/// Has the docker engine push `reference`, a name in the repository of `name`, which is made as
/// open_target does.
engine::PushResult push_with_engine(Services& services,
                                    const packaging::ImageName& name,
                                    const image::Reference& reference);

}  // namespace autopack::publish
