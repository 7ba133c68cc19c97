#pragma once

#include "image/layer.hpp"
#include "image/manifest.hpp"
#include "image/source.hpp"
#include "registry/client.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::packaging {

/// A layer that is made while its bytes are read.
struct LazyLayer {
  std::string name{};
  bool is_parents{false};        ///< equal to the parent's layer, byte for byte
  bool is_fresh{false};          ///< made just now: a registry is unlikely to have it
  bool is_there{false};          ///< the destination repository is known to have it
  std::uint64_t likely_size{0};  ///< estimate for progress while the size is unknown; 0: none
  registry::Blob blob{};         ///< digest and size are known, or determined while it is read
  /// Set from the cache, when the layer is made, or when it was read to its end.
  std::shared_ptr<std::optional<image::LayerFacts>> facts{};

  /// Returns digest and size, or nothing before the layer was made.
  std::optional<image::Descriptor> known() const;
};

struct FinishedImage {
  image::Manifest manifest;
  std::string configuration{};  ///< JSON
};

/// An image whose layers get their digests as soon as these can be known.
class LazyImage {
public:
  virtual ~LazyImage() = default;
  virtual const std::string& name() const = 0;
  /// Returns the layers in the order of the manifest.
  virtual const std::vector<LazyLayer>& layers() const = 0;
  /// Returns manifest and configuration. Every layer must be known, or have been read.
  virtual FinishedImage finish() const = 0;
};

image::Descriptor descriptor_of(const image::LayerFacts& facts);

/// Returns the image as a Source, which compresses layers each time they are read. Makes unknown
/// layers once, to get their digests.
image::Source source_of(const LazyImage& image);

}  // namespace autopack::packaging
