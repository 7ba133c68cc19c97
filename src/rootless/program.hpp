#pragma once

#include "base/terminal.hpp"
#include "engine/docker.hpp"
#include "image/manifest.hpp"
#include "image/process_user.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::rootless {

/// A program of an image, with everything that an engine would give it.
struct Program {
  std::vector<std::string> words{};
  std::vector<std::pair<std::string, std::string>> environment{};  ///< no name twice
  std::string directory{};
  unsigned user{0};
  unsigned group{0};
  std::vector<engine::ContainerSpec::Mount> mounts{};
  bool has_terminal{false};
  std::optional<TerminalSize> size{};  ///< of the terminal
};

/// Returns the program that `spec` starts in the image of `configuration`, as an engine does.
/// Throws Error(usage) if `spec` needs what only an engine can do: GPUs, another port of this
/// machine. Throws Error(environment) if the image starts nothing, or its user does not exist.
Program program_of(const image::Configuration& configuration,
                   const engine::ContainerSpec& spec,
                   const engine::Proxies& proxies,
                   const image::ReadFile& read);

}  // namespace autopack::rootless
