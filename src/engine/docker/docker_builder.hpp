#pragma once

#include "engine/docker/engine_builder.hpp"

#include <memory>

namespace autopack::engine {

/// The image in the docker engine: as it was made before for the same key, else as the engine's
/// builder makes it.
std::unique_ptr<EngineBuilder> make_docker_builder(Services& services);

/// The same without a build where that will do: the code is loaded on the dependency image, which
/// alone is built when it is missing. Built by the engine where that takes no part of an image.
std::unique_ptr<EngineBuilder> make_loading_builder(Services& services);

}  // namespace autopack::engine
