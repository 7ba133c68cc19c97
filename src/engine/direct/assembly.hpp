#pragma once

#include "engine/direct/recipes.hpp"
#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <memory>
#include <string>
#include <vector>

namespace autopack::engine {

/// A layer, and how it is made.
struct RecipeLayer {
  packaging::LazyLayer layer{};
  std::shared_ptr<const LayerRecipe> recipe{};
};

/// The layers of `plan`, which must outlive them; small ones are made now. `made` as for
/// plan::placed_code.
std::vector<RecipeLayer> make_code_layers(Services& services,
                                          const plan::ReadablePlan& plan,
                                          const std::vector<std::string>& made);

/// The layers of `recipes`; small ones are made now.
std::vector<RecipeLayer> make_layers(Services& services, std::vector<LayerRecipe> recipes);

/// The layers of `parent`, then `layers`. Layers that the parent has uncompressed are compressed
/// here.
std::unique_ptr<packaging::LazyImage> stack(Services& services,
                                            image::Source parent,
                                            const std::vector<RecipeLayer>& layers,
                                            Configure configure);

/// The layers of `parent`, then `layers` of the code, with the configuration that the generated
/// Dockerfile makes, as stack() does it. `work` must outlive it.
std::unique_ptr<packaging::LazyImage> put_together(Services& services,
                                                   const packaging::Packaging& work,
                                                   image::Source parent,
                                                   const std::vector<RecipeLayer>& layers);

/// `image` as it is, with every layer compressed.
image::Source compress_layers(Services& services, image::Source image);

/// What the user is told of the layers of `image` above its parent's; all are known.
std::vector<packaging::SentLayer> own_layers(const packaging::LazyImage& image);

}  // namespace autopack::engine
