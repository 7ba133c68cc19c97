#pragma once

#include "cli/flags.hpp"
#include "engine/docker.hpp"

#include <filesystem>
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
  std::string gpus{};  ///< as docker spells them; empty: none
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

/// The ids of this machine's NVIDIA GPUs, as many as there are devices in `directory`.
std::vector<std::string> find_gpus(const std::filesystem::path& directory = "/dev");

/// The mounts that the values of `--volume`, `HOST:CONTAINER[:ro]`, ask for. Adds an error to
/// `problems` for each that cannot be had.
std::vector<engine::ContainerSpec::Mount> read_volumes(const std::vector<std::string>& volumes,
                                                       const Environment& environment,
                                                       Problems& problems);

/// The file with the user's own Application Default Credentials; none when there is no such file.
std::optional<std::string> own_credentials(const Environment& environment);

}  // namespace autopack::cli
