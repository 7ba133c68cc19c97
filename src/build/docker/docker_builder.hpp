#pragma once

#include "build/docker/engine_builder.hpp"

#include <memory>

namespace autopack::build {

/// Returns a builder that leaves the image in the docker engine. It reuses an image with the same
/// key, or else builds with the engine's builder.
std::unique_ptr<EngineBuilder> make_docker_builder(Services& services);

/// The same without a build where possible: loads the code on top of the dependency image, and
/// builds only that if it is missing. Falls back to a build if the engine cannot load a part of an
/// image.
std::unique_ptr<EngineBuilder> make_loading_builder(Services& services);

}  // namespace autopack::build
