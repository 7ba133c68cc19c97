#pragma once

#include "packaging/builder.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::engine {

/// Builds the dependency image of `work` under its name; its id.
std::string build_dependencies(Services& services,
                               const packaging::Packaging& work,
                               packaging::Freshness freshness);

/// True if the engine has the dependency image of `work`, made for whichever repository; it has
/// work.dependency_name() then.
bool has_dependencies(Services& services, const packaging::Packaging& work);

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

}  // namespace autopack::engine
