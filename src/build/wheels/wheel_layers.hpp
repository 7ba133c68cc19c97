#pragma once

#include "build/direct/recipes.hpp"
#include "build/wheels/byte_code.hpp"
#include "build/wheels/gpu_code.hpp"
#include "build/wheels/wheel_lists.hpp"
#include "executor/base_distributions.hpp"
#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "python/version.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack::build {

/// Layers of wheels to make.
struct WheelRecipes {
  std::vector<LayerRecipe> recipes{};
  std::vector<std::vector<std::size_t>> wheels{};  ///< of each recipe, by position in `chosen`
  /// The files of each recipe; absent for a layer that contains no file of a wheel.
  std::vector<std::optional<wheel::LayerGroup>> groups{};
  std::shared_ptr<const std::vector<wheel::ChosenWheel>> chosen{};
};

/// The layers of a set's wheels on an executor image.
class WheelLayers {
public:
  /// `facts`, which must contain the interpreter, describe the executor image of `work`; both must
  /// outlive it.
  WheelLayers(Services& services,
              const packaging::Packaging& work,
              const executor::PythonFacts& facts);

  /// Determines which packages of `set` the image has, and which of its own must be removed.
  /// Returns why the set cannot be installed there, one line each; empty if it can.
  std::vector<std::string> settle(const lock::LockedSet& set);

  /// Returns true for a package that the image already has; call settle() first.
  bool has(const std::string& name) const { return kept_.contains(name); }

  /// Returns the packages of the image that the set counts on, replaces or hides: `numpy==2.1.0`,
  /// sorted; `provided` are those that its lock leaves to the image. Call settle() first.
  std::vector<std::string> base_packages(
      const std::map<std::string, python::Version>& provided) const;

  /// Adds byte code made by `compiler` to the layers of wheels.
  void compile_with(ByteCompiler compiler) {
    compiler_ = std::make_shared<const ByteCompiler>(std::move(compiler));
  }

  const wheel::Place& place() const { return place_; }

  /// Returns the layers on top of `below` others: directories, removals, the wheels, and finally
  /// `above`. Calls `fetch` with the wheels whose files are not known yet, to group them.
  WheelRecipes recipes(std::vector<wheel::ChosenWheel> wheels,
                       std::size_t below,
                       const FetchWheels& fetch,
                       std::vector<LayerRecipe> above = {}) const;

private:
  using Wheels = std::vector<wheel::ChosenWheel>;

  void remove(const std::vector<std::size_t>& distributions);
  void warn_of_gpu(const executor::BaseDecision& decision) const;
  std::vector<wheel::LayerGroup> groups(const Wheels& wheels,
                                        std::size_t below,
                                        const FetchWheels& fetch) const;
  wheel::Grouping group_anew(const Wheels& wheels,
                             std::size_t budget,
                             const std::string& key,
                             const FetchWheels& fetch) const;
  std::set<std::size_t> to_be_opened(const std::vector<wheel::LayerGroup>& layers,
                                     const Wheels& wheels) const;
  bool is_known(const std::string& key) const;
  LayerRecipe removal() const;
  LayerRecipe layer_of(const wheel::LayerGroup& group,
                       const std::shared_ptr<const Wheels>& wheels,
                       const std::shared_ptr<GpuCodeReader>& gpu_code) const;

  Services& services_;
  const packaging::Packaging& work_;
  const executor::PythonFacts& facts_;
  wheel::Place place_{};
  std::shared_ptr<const ByteCompiler> compiler_{};  ///< null: no byte code
  std::set<std::string> kept_{};                    ///< packages that the image has
  std::set<std::string> removed_{};                 ///< paths of files of the image
  std::set<std::string> base_packages_{};
};

}  // namespace autopack::build
