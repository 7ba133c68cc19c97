#pragma once

#include "engine/docker.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace autopack::engine {

/// Settings of an engine that building does not need.
struct EngineSettings {
  std::string root_directory{};               ///< its image store, on the engine's machine
  std::optional<std::string> https_proxy{};   ///< for pulls and pushes
  std::optional<std::uint64_t> free_bytes{};  ///< in the image store; absent if it is on another
                                              ///< machine
};

/// Throws as Docker's methods do.
EngineSettings read_settings(const DockerOptions& options);

}  // namespace autopack::engine
