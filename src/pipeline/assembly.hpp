#pragma once

#include "engine/direct.hpp"
#include "image/source.hpp"
#include "pipeline/services.hpp"
#include "plan/plan.hpp"
#include "registry/client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// An image that the direct engine puts together: its parent's layers, then those of a plan. Layers
/// that the parent has uncompressed are compressed here.
class Assembly {
public:
  struct Layer {
    std::string name{};
    bool is_parents{false};  ///< as its parent has it, byte for byte
    registry::Blob blob{};   ///< digest and size are known, or found while it is read
    std::shared_ptr<const engine::LayerRecipe> recipe{};  ///< none for the parent's own
    /// Known from the cache, from making it, or once it was read to its end.
    std::shared_ptr<std::optional<image::LayerFacts>> facts{};
    bool from_cache{false};

    /// Digest and size; none before it was made.
    std::optional<image::Descriptor> known() const;
  };

  /// The layers of `plan`, which must outlive them; small ones are made now. `made` as for
  /// plan::placed_code.
  static std::vector<Layer> make_layers(Services& services,
                                        const plan::Plan& plan,
                                        const std::vector<std::string>& made);

  /// `plan` must outlive it; `layers` are its own.
  Assembly(Services& services,
           const plan::Plan& plan,
           image::Source parent,
           std::vector<Layer> layers);
  /// The image itself, nothing on top.
  Assembly(Services& services, image::Source image);

  /// In the order of the manifest.
  const std::vector<Layer>& layers() const { return layers_; }

  /// Manifest and configuration; every layer must have been read, or be known.
  engine::Assembled finish() const;

  /// The image as something to read from, layers compressed as often as they are read. Makes those
  /// that are not known once, for their digests.
  image::Source source();

private:
  Assembly(Services& services, const plan::Plan* plan, image::Source parent);
  void add_parents();

  Services& services_;
  const plan::Plan* plan_;  ///< null: nothing on top
  image::Source parent_;
  std::int64_t time_;
  std::vector<Layer> layers_;
};

}  // namespace autopack::pipeline
