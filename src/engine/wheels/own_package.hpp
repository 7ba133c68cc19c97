#pragma once

#include "engine/direct/recipes.hpp"
#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "wheel/layers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Why the build of the project's own package has to run, in words; none when its files tell all
/// that the installation leaves behind, or when it is not installed.
std::optional<std::string> obstacle_to_own_package(const packaging::Packaging& work);

/// The project's own package as an editable installation leaves it behind, made of its files alone.
struct OwnPackage {
  lock::LockedPackage package{};  ///< what it is called
  wheel::ChosenWheel wheel;
  std::string record{};  ///< what it was made from: see plan::InstallRecord
};

/// That of `work`, whose wheel comes into `wheels`; none when it is not installed. Throws
/// Error(internal) where there is an obstacle_to_own_package().
std::optional<OwnPackage> make_own_package(const packaging::Packaging& work,
                                           const index::WheelCache& wheels);

/// Its layers at `place`: the wheel, and last the record.
std::vector<LayerRecipe> layers_of(const OwnPackage& own, const wheel::Place& place);

}  // namespace autopack::engine
