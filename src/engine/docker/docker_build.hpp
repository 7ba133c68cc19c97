#pragma once

#include "engine/docker.hpp"
#include "packaging/builder.hpp"
#include "services/services.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// The stage that holds what the installation of the project's package wrote.
inline constexpr auto* installed_stage = "installed";

/// What the docker engine is to make: all of an image, one stage of it, or what is left above
/// `parent`.
struct BuildGoal {
  std::string tag{};
  std::optional<std::string> stage{};  ///< none: all
  /// Name of the dependency image, which only lacks the code.
  std::optional<std::string> parent{};
  std::vector<std::string> left_out{};  ///< files of the code that it holds
  packaging::Freshness freshness{packaging::Freshness::cached};
};

/// Has the engine make `goal` of `work`.
BuildResult build(Services& services, const packaging::Packaging& work, const BuildGoal& goal);

/// Context directory of what pip_files gives.
inline constexpr auto* pip_directory = ".autopack/pip";

/// The settings of this machine's pip, as files of the context; none when there are none. `hosts`
/// are those of indexes that a lock names besides. Throws Error(environment) when they hold a login
/// that `engine` would keep.
std::vector<ContextFile> pip_files(Services& services,
                                   const project::Project& project,
                                   const std::vector<std::string>& hosts,
                                   const EngineInfo& engine);

/// `sha256:... in 2.1 s, 3 of 7 steps cached`
std::string built_text(const BuildResult& result, std::chrono::steady_clock::duration time);

}  // namespace autopack::engine
