#pragma once

#include "cli/flags.hpp"
#include "engine/docker.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The flags for how `run` starts the container.
struct ContainerOptions {
  job::FlagValues args{};
  job::FlagValues env{};
  std::vector<std::string> env_files{};
  std::vector<std::string> volumes{};
  std::vector<std::string> ports{};
  std::string gpus{};  ///< in docker's syntax; empty: none
  bool shell{false};
  bool watch{false};
};

void add_container_flags(FlagSet& flags, ContainerOptions& options);

/// Applies the flags to `container`; `typed_arguments` follow those of `--args`. With `--shell`
/// they are a command, or options of the shell, and those of `--args` are ignored. Throws
/// Error(usage) with all findings.
void apply(const ContainerOptions& options,
           const std::vector<std::string>& typed_arguments,
           const Environment& environment,
           engine::ContainerSpec& container);

/// Returns the ids of this machine's NVIDIA GPUs, one for each device in `directory`.
std::vector<std::string> find_gpus(const std::filesystem::path& directory = "/dev");

/// Parses the mounts of `--volume`, `HOST:CONTAINER[:ro]`. Adds an error to `problems` for each
/// invalid one.
std::vector<engine::ContainerSpec::Mount> read_volumes(const std::vector<std::string>& volumes,
                                                       const Environment& environment,
                                                       Problems& problems);

/// Returns the file with the user's own Application Default Credentials; nothing if there is no
/// such file.
std::optional<std::string> own_credentials(const Environment& environment);

}  // namespace autopack::cli
