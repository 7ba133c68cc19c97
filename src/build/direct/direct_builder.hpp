#pragma once

#include "build/direct/assembly.hpp"
#include "packaging/builder.hpp"
#include "publish/target.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// Returns why the direct engine cannot make the image of `work`, because of an option or the
/// user's own Dockerfile, or nothing if it can.
std::optional<std::string> obstacle_to_direct(const packaging::Packaging& work);

/// Returns the layers of `work` if it changed since its last build here, because the registry
/// probably lacks them. Empty if they may not be needed.
std::vector<RecipeLayer> layers_ahead(Services& services, const packaging::Packaging& work);

/// A dependency image that was built and pushed.
struct PushedDependencies {
  Digest digest;
  std::uint64_t bytes_uploaded{0};
  std::optional<packaging::MovedWheels> wheels{};  ///< absent if an engine built it
};

/// Builds the dependency image of a Packaging because of an outcome, and pushes it.
using MakeDependencies = std::function<PushedDependencies(const packaging::Packaging& work,
                                                          packaging::Freshness freshness,
                                                          const packaging::Outcome& why)>;

/// Returns a builder that takes the image from its registry, or puts the code on the dependency
/// image there (or on the base, if nothing is installed). It calls `make_dependencies` for a
/// dependency image that the registry lacks. `ahead` are layers_ahead().
std::unique_ptr<packaging::Builder> make_direct_builder(Services& services,
                                                        std::shared_ptr<publish::Target> target,
                                                        std::vector<RecipeLayer> ahead,
                                                        MakeDependencies make_dependencies);

/// Whether the image below the code existed or was just built.
enum class ParentOrigin { found, made_now };

/// Returns a builder that puts the code on `parent` for files or an engine, without a registry.
std::unique_ptr<packaging::Builder> make_builder_on(Services& services,
                                                    packaging::ParentImage parent,
                                                    ParentOrigin origin);

/// Returns the dependency image of `work` if its registry has it and it is still valid.
std::optional<packaging::ParentImage> find_dependencies(Services& services,
                                                        const packaging::Packaging& work);

}  // namespace autopack::build
