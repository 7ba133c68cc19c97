#pragma once

#include "engine/docker.hpp"
#include "packaging/builder.hpp"
#include "services/services.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace autopack::engine {

/// The stage that holds what the installation of the project's package wrote.
inline constexpr auto* installed_stage = "installed";

/// What the docker engine is to make: all of an image, one stage of it, or what is left above
/// `parent`.
struct BuildGoal {
  std::string tag{};
  std::string stage{};                  ///< empty: all
  std::string parent{};                 ///< name of the dependency image, which only lacks the code
  std::vector<std::string> left_out{};  ///< files of the code that it holds
  packaging::Freshness freshness{packaging::Freshness::cached};
};

/// Has the engine make `goal` of `work`.
BuildResult build(Services& services, const packaging::Packaging& work, const BuildGoal& goal);

/// `sha256:... in 2.1 s, 3 of 7 steps cached`
std::string built_text(const BuildResult& result, std::chrono::steady_clock::duration time);

}  // namespace autopack::engine
