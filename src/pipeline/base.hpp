#pragma once

#include "image/facts.hpp"
#include "pipeline/package.hpp"

#include <optional>
#include <string>

namespace autopack::pipeline {

/// The facts of `reference` as its registry (or, for an image without one, the daemon) has it now:
/// from the cache when the digest is known there, else found by the engine. Without an engine, with
/// Engine::direct and for an image in files they are read from the image's layers.
image::BaseFacts base_now(Services& services,
                          const std::string& reference,
                          const std::string& platform,
                          Engine engine);

/// The facts of `reference` as last seen, good for printing a Dockerfile: `recorded` (of a
/// committed Dockerfile) when it is about the same base, else the cache, else the engine.
image::BaseFacts base_as_seen(Services& services,
                              const std::string& reference,
                              const std::string& platform,
                              const std::optional<image::BaseFacts>& recorded);

/// The same for a dry run, which pulls nothing and needs no engine: what is not known is assumed as
/// gcloud assumes it, and said.
image::BaseFacts base_or_assumed(Services& services,
                                 const std::string& reference,
                                 const std::string& platform);

}  // namespace autopack::pipeline
