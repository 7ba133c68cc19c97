#pragma once

#include "build/direct/recipes.hpp"
#include "build/wheels/wheel_source.hpp"
#include "executor/python_facts.hpp"
#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The result of an editable installation of the project's own package: a wheel, made from its
/// files alone, or the files that its build wrote. A workspace has several.
struct OwnPackage {
  std::vector<lock::LockedPackage> packages{};  ///< their names and versions
  std::optional<wheel::ChosenWheel> wheel{};
  std::optional<index::CachedFile> files{};  ///< a tar
  /// What they require of others, with the extras to install, if only a build knows it; empty if
  /// the plan has it.
  std::vector<std::string> requirements{};
  std::string record{};  ///< its inputs: see plan::InstallRecord
};

struct FoundOwnPackage {
  std::optional<OwnPackage> package{};  ///< absent too if the project has none to install
  std::optional<std::string> obstacle{};
  bool may_be_built{false};  ///< the obstacle is only that the policy builds nothing
};

/// Returns why the own package of `work` has to be built, in words; nothing if its files determine
/// the result of the installation, or if it is not installed.
std::optional<std::string> reason_to_build_own_package(const packaging::Packaging& work);

/// Returns the own package of `work` for the interpreter in `facts`, which must have one: from its
/// files if they are enough, else as it was installed before, else installed by `policy`. Caches
/// its files with the wheels. The obstacle is that it cannot be built, or not without its
/// requirements.
FoundOwnPackage find_own_package(Services& services,
                                 const packaging::Packaging& work,
                                 const executor::PythonFacts& facts,
                                 const WheelPolicy& policy);

/// Returns the files that the build of `own` read and that may list requirements.
std::vector<std::string> lists_read_by_build(const OwnPackage& own);

/// Returns its layers at `place`: the package, then the record.
std::vector<LayerRecipe> layers_of(const OwnPackage& own, const wheel::Place& place);

}  // namespace autopack::build
