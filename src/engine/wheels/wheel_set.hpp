#pragma once

#include "engine/direct/assembly.hpp"
#include "engine/wheels/wheel_layers.hpp"
#include "packaging/image.hpp"
#include "services/repository_notes.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::engine {

/// The wheels of a dependency image and the layers that they make, for those who tell of them and
/// who note them.
class WheelSet {
public:
  WheelSet() = default;

  /// `layers` were made of `recipes`, for `place`.
  WheelSet(const WheelRecipes& recipes, const std::vector<RecipeLayer>& layers, wheel::Place place);

  /// What became of them when `sent`, the layers above the executor image, went to the registry.
  packaging::MovedWheels moved(Services& services,
                               const std::vector<packaging::SentLayer>& sent) const;

  /// Returns how many of the wheels are in layers that were taken from the repository by its notes,
  /// unread.
  std::size_t noted() const;

  /// What machines that know nothing yet want to know of them and of `executor`, the image that
  /// they were put on, once the layers were sent. `services` must outlive it.
  RepositoryNotes::FindNews news(const Services& services, const image::BaseFacts& executor) const;

private:
  struct Layer {
    std::string key{};
    std::shared_ptr<std::optional<image::LayerFacts>> facts{};
    std::vector<std::size_t> wheels{};
    bool is_noted{false};
  };

  std::vector<Layer> layers_{};
  std::shared_ptr<const std::vector<wheel::ChosenWheel>> wheels_{};
  wheel::Place place_{};
};

}  // namespace autopack::engine
