#pragma once

#include "cli/flags.hpp"
#include "engine/docker.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The flags that say how `run` starts the container.
struct ContainerOptions {
  job::FlagValues args{};
  job::FlagValues env{};
  std::vector<std::string> env_files{};
  std::vector<std::string> volumes{};
  std::vector<std::string> ports{};
  bool shell{false};
  bool watch{false};
};

void add_container_flags(FlagSet& flags, ContainerOptions& options);

/// Puts what the flags say into `container`; `typed_arguments` stand after those of `--args`.
/// Throws Error(usage) with all findings.
void apply(const ContainerOptions& options,
           const std::vector<std::string>& typed_arguments,
           const Environment& environment,
           engine::ContainerSpec& container);

/// The file with the user's own Application Default Credentials; none when there is no such file.
std::optional<std::string> own_credentials(const Environment& environment);

}  // namespace autopack::cli
