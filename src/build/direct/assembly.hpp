#pragma once

#include "build/direct/recipes.hpp"
#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <memory>
#include <string>
#include <vector>

namespace autopack::build {

/// A layer, and its recipe.
struct RecipeLayer {
  packaging::LazyLayer layer{};
  std::shared_ptr<const LayerRecipe> recipe{};
};

/// Returns the layers of `plan`, which must outlive them; makes small ones immediately. `made` as
/// for plan::placed_code.
std::vector<RecipeLayer> make_code_layers(Services& services,
                                          const plan::ReadablePlan& plan,
                                          const std::vector<std::string>& made);

/// Returns the layers of `recipes`; makes small ones immediately.
std::vector<RecipeLayer> make_layers(Services& services, std::vector<LayerRecipe> recipes);

/// Returns the layers of `parent`, then `layers`. Compresses layers that the parent has
/// uncompressed.
std::unique_ptr<packaging::LazyImage> stack(Services& services,
                                            image::Source parent,
                                            const std::vector<RecipeLayer>& layers,
                                            Configure configure);

/// Returns the layers of `parent`, then `layers` of the code, as in stack(), with the configuration
/// from the generated Dockerfile. `work` must outlive the image.
std::unique_ptr<packaging::LazyImage> put_together(Services& services,
                                                   const packaging::Packaging& work,
                                                   image::Source parent,
                                                   const std::vector<RecipeLayer>& layers);

/// Returns `image` with every layer compressed.
image::Source compress_layers(Services& services, image::Source image);

/// Describes the layers of `image` above its parent's for the user; all facts must be known.
std::vector<packaging::SentLayer> own_layers(const packaging::LazyImage& image);

}  // namespace autopack::build
