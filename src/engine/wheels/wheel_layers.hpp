#pragma once

#include "engine/direct/recipes.hpp"
#include "engine/wheels/byte_code.hpp"
#include "engine/wheels/wheel_lists.hpp"
#include "executor/base_distributions.hpp"
#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack::engine {

/// Layers of wheels that are to be made.
struct WheelRecipes {
  std::vector<LayerRecipe> recipes{};
  std::vector<std::vector<std::size_t>> wheels{};  ///< of each recipe, by their places in `chosen`
  std::shared_ptr<const std::vector<wheel::ChosenWheel>> chosen{};
};

/// The layers that the wheels of a set make on an executor image.
class WheelLayers {
public:
  /// `facts`, which must know the interpreter, are of the executor image of `work`; both must
  /// outlive it.
  WheelLayers(Services& services,
              const packaging::Packaging& work,
              const executor::PythonFacts& facts);

  /// Finds out what of `set` the image has, and what of its own goes for it; why the set cannot be
  /// installed there, one line each, empty when it can.
  std::vector<std::string> settle(const lock::LockedSet& set);

  /// True for what the image has already, once settle() was called.
  bool has(const std::string& name) const { return kept_.contains(name); }

  /// Has the layers of wheels bring byte code that `compiler` makes.
  void compile_with(ByteCompiler compiler) {
    compiler_ = std::make_shared<const ByteCompiler>(std::move(compiler));
  }

  const wheel::Place& place() const { return place_; }

  /// The layers on top of `below` others: directories, what is removed, the wheels. `fetch` is
  /// given the wheels whose files are not known yet, to say which belong together. `above` come
  /// last.
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
                       const std::shared_ptr<const Wheels>& wheels) const;

  Services& services_;
  const packaging::Packaging& work_;
  const executor::PythonFacts& facts_;
  wheel::Place place_{};
  std::shared_ptr<const ByteCompiler> compiler_{};  ///< null: no byte code
  std::set<std::string> kept_{};                    ///< names that the image has
  std::set<std::string> removed_{};                 ///< paths of files of the image
};

}  // namespace autopack::engine
