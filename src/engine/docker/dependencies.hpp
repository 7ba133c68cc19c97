#pragma once

#include "engine/docker.hpp"
#include "packaging/builder.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::engine {

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

/// Builds the dependency image of `work` under its name; its id.
std::string build_dependencies(Services& services,
                               const packaging::Packaging& work,
                               packaging::Freshness freshness);

/// The dependency image in the engine.
struct DependencyImage {
  std::string id{};
  std::vector<std::string> made{};  ///< what it holds of the project's files: plan::placed_code
};

/// The dependency image of `work`, which is built when it is missing, too old, or when the
/// installation of the project's package does not hold any more.
DependencyImage dependencies_in_engine(Services& services,
                                       const packaging::Packaging& work,
                                       packaging::Freshness freshness);

/// `sha256:... in 2.1 s, 3 of 7 steps cached`
std::string built_text(const BuildResult& result, std::chrono::steady_clock::duration time);

}  // namespace autopack::engine
