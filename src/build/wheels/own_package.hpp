#pragma once

#include "build/direct/recipes.hpp"
#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "wheel/layers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The result of an editable installation of the project's own package, made from its files alone.
struct OwnPackage {
  lock::LockedPackage package{};  ///< its name and version
  wheel::ChosenWheel wheel;
  std::string record{};  ///< its inputs: see plan::InstallRecord
};

/// Returns why the project's own package has to be built, in words; nothing if its files
/// determine the result of the installation, or if it is not installed.
std::optional<std::string> obstacle_to_own_package(const packaging::Packaging& work);

/// Returns the package of `work`, and puts its wheel into `wheels`; nothing if it is not
/// installed. Throws Error(internal) if there is an obstacle_to_own_package().
std::optional<OwnPackage> make_own_package(const packaging::Packaging& work,
                                           const index::WheelCache& wheels);

/// Returns its layers at `place`: the wheel, then the record.
std::vector<LayerRecipe> layers_of(const OwnPackage& own, const wheel::Place& place);

}  // namespace autopack::build
