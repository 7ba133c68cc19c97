#pragma once

#include "build/docker/build_context.hpp"
#include "engine/docker.hpp"
#include "packaging/builder.hpp"
#include "services/services.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The stage with the files that the installation of the project's package wrote.
inline constexpr auto* installed_stage = "installed";
/// The stage that installs it under observation, into `/autopack/out`.
inline constexpr auto* observed_stage = "observed";

/// The goal of a build with the docker engine: a whole image, one stage of it, or only the layers
/// above `parent`.
struct BuildGoal {
  std::string tag{};                   ///< empty: none
  std::optional<std::string> stage{};  ///< absent: all
  /// Name of the dependency image; only the code is added.
  std::optional<std::string> parent{};
  std::vector<std::string> left_out{};  ///< code files that are already in it
  packaging::Freshness freshness{packaging::Freshness::cached};
  /// Installs the project's own package on the executor image, without what it requires.
  bool is_own_alone{false};
};

/// Builds `goal` of `work` with the engine.
engine::BuildResult build(Services& services,
                          const packaging::Packaging& work,
                          const BuildGoal& goal);

/// The context directory for the files of pip_files().
inline constexpr auto* pip_directory = ".autopack/pip";

/// Returns the pip settings of this machine as files of the context; empty if there are none.
/// `hosts` are those of additional indexes that a lock names. Throws Error(environment) if they
/// contain a login that `engine` would keep.
std::vector<ContextFile> pip_files(Services& services,
                                   const project::Project& project,
                                   const std::vector<std::string>& hosts,
                                   const engine::EngineInfo& engine);

/// Returns "`sha256:... in 2.1 s, 3 of 7 steps cached`".
std::string built_text(const engine::BuildResult& result, std::chrono::steady_clock::duration time);

}  // namespace autopack::build
