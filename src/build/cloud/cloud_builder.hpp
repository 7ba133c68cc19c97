#pragma once

#include "base/digest.hpp"
#include "packaging/builder.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace autopack::build {

/// Where a build in Cloud Build runs, and where its source goes.
struct CloudPlace {
  std::string project{};
  std::string region{};
  std::string bucket{};
  bool is_default_bucket{false};  ///< the user named none
};

/// Returns the place for the image of `wanted`. Throws Error(usage) if no project is known, or for
/// an invalid bucket.
CloudPlace cloud_place(Services& services, const packaging::Wanted& wanted);

/// Returns why Cloud Build cannot push the image of `wanted`; nothing if it can. Asks nobody.
std::optional<std::string> obstacle_to_cloud(Services& services, const packaging::Wanted& wanted);

/// Returns how many files a builder gets for `work`.
std::size_t files_to_send(const packaging::Packaging& work);

/// Builds the dependency image of `work` in Cloud Build, which pushes it under its name. Returns
/// its digest. Throws Error(usage) with the obstacle.
Digest build_dependencies_in_cloud(Services& services,
                                   const packaging::Packaging& work,
                                   packaging::Freshness freshness);

/// Returns a builder that lets Cloud Build make and push the whole image, and reuses one with the
/// same key in the registry.
std::unique_ptr<packaging::Builder> make_cloud_builder(Services& services);

}  // namespace autopack::build
