#pragma once

#include "build/direct/recipes.hpp"
#include "plan/plan.hpp"
#include "wheel/layers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The facts about its wheels that the labels of a dependency image contain.
struct DependencyLabels {
  std::size_t wheels{0};
  std::vector<std::string> base_packages{};  ///< WheelLayers::base_packages
  std::vector<std::string> compiled{};       ///< on the executor image
};

/// Returns the packages of `wheels` that were compiled on this executor image: an index accepts no
/// wheels for any Linux.
std::vector<std::string> compiled_here(const std::vector<wheel::ChosenWheel>& wheels);

/// Returns what sets the configuration of the dependency image of `plan`. `resolved_at` is the time
/// when its versions were chosen, in seconds since 1970; absent if a lock or pins chose them.
Configure configure_dependencies(const plan::Plan& plan,
                                 DependencyLabels labels,
                                 std::optional<std::int64_t> resolved_at);

}  // namespace autopack::build
