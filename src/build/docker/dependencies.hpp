#pragma once

#include "packaging/builder.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::build {

/// Reports that pip installs the dependencies of `work` in an engine because of `obstacles`, and
/// warns about settings that pip does not read.
void report_installation_by_pip(Services& services,
                                const packaging::Packaging& work,
                                const std::vector<std::string>& obstacles);

/// Returns the stage of the generated Dockerfile that is the dependency image.
const char* dependency_stage(const plan::Dependencies& dependencies);

/// Builds the dependency image of `work` under its name; returns its id.
std::string build_dependencies(Services& services,
                               const packaging::Packaging& work,
                               packaging::Freshness freshness);

/// Returns true if the engine has the dependency image of `work`, for any repository; then it has
/// also the name work.dependency_name().
bool has_dependencies(Services& services, const packaging::Packaging& work);

/// The dependency image in the engine.
struct DependencyImage {
  std::string id{};
  std::vector<std::string> made{};  ///< the project's files in it: plan::placed_code
};

/// Returns the dependency image of `work`. Builds it if it is missing or too old, or if the
/// installation of the project's package is outdated.
DependencyImage dependencies_in_engine(Services& services,
                                       const packaging::Packaging& work,
                                       packaging::Freshness freshness);

}  // namespace autopack::build
