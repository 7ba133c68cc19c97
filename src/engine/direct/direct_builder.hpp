#pragma once

#include "engine/direct/assembly.hpp"
#include "packaging/builder.hpp"
#include "publish/target.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Why the direct engine cannot make the image of `work`: an option or the user's own Dockerfile
/// asks for more. None when it can.
std::optional<std::string> obstacle_to_direct(const packaging::Packaging& work);

/// The layers of `work` when something changed since it was last built here: a registry will hardly
/// have them. Empty when they may not be needed.
std::vector<RecipeLayer> layers_ahead(Services& services, const packaging::Packaging& work);

/// A dependency image that was made and pushed.
struct PushedDependencies {
  Digest digest;
  std::uint64_t bytes_uploaded{0};
  std::optional<packaging::MovedWheels> wheels{};  ///< none when an engine made it
};

/// Makes the dependency image of a Packaging, because of an outcome, and pushes it.
using MakeDependencies = std::function<PushedDependencies(const packaging::Packaging& work,
                                                          packaging::Freshness freshness,
                                                          const packaging::Outcome& why)>;

/// Takes the image from its registry, or puts the code on the dependency image there (or on the
/// base, when nothing is installed). `make_dependencies` is called for a dependency image that the
/// registry does not have. `ahead` are layers_ahead().
std::unique_ptr<packaging::Builder> make_direct_builder(Services& services,
                                                        std::shared_ptr<publish::Target> target,
                                                        std::vector<RecipeLayer> ahead,
                                                        MakeDependencies make_dependencies);

/// Where the image below the code comes from.
enum class ParentOrigin { found, made_now };

/// Puts the code on `parent` for files or an engine, without a registry that has the image.
std::unique_ptr<packaging::Builder> make_builder_on(Services& services,
                                                    packaging::ParentImage parent,
                                                    ParentOrigin origin);

/// The dependency image of `work` where its registry has it and it still holds.
std::optional<packaging::ParentImage> find_dependencies(Services& services,
                                                        const packaging::Packaging& work);

}  // namespace autopack::engine
