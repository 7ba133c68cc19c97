#pragma once

#include "build/direct/assembly.hpp"
#include "build/wheels/wheel_layers.hpp"
#include "executor/notes/repository_notes.hpp"
#include "packaging/image.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::build {

/// The wheels of a dependency image and their layers, for reports and notes.
class WheelSet {
public:
  WheelSet() = default;

  /// `layers` were made from `recipes`, for `place`.
  WheelSet(const WheelRecipes& recipes, const std::vector<RecipeLayer>& layers, wheel::Place place);

  /// Returns what happened to them when `sent`, the layers above the executor image, went to the
  /// registry.
  packaging::MovedWheels moved(Services& services,
                               const std::vector<packaging::SentLayer>& sent) const;

  /// Returns how many of the wheels are in layers that the repository already had according to its
  /// notes, unread.
  std::size_t noted() const;

  /// Returns new notes about the wheels and `executor`, the image below them, for other machines,
  /// once the layers were sent. `services` must outlive it.
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

}  // namespace autopack::build
