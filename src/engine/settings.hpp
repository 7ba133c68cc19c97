#pragma once

#include "engine/docker.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace autopack::engine {

/// What an engine says of itself, beyond what building needs.
struct EngineSettings {
  std::string root_directory{};               ///< where images are kept, on the engine's machine
  std::optional<std::string> https_proxy{};   ///< of pulls and pushes
  std::optional<std::uint64_t> free_bytes{};  ///< there; none when it is another machine's
};

/// Throws as Docker's methods do.
EngineSettings read_settings(const DockerOptions& options);

}  // namespace autopack::engine
