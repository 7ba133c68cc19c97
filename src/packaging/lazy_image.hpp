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

/// A layer whose bytes are made when they are read.
struct LazyLayer {
  std::string name{};
  bool is_parents{false};        ///< as its parent has it, byte for byte
  bool is_fresh{false};          ///< made here just now: no registry is likely to have it
  bool is_there{false};          ///< the repository that the image goes to was seen to have it
  std::uint64_t likely_size{0};  ///< to tell how far it is, while its size is not known; 0: none
  registry::Blob blob{};         ///< digest and size are known, or found while it is read
  /// Known from the cache, from making it, or once it was read to its end.
  std::shared_ptr<std::optional<image::LayerFacts>> facts{};

  /// Digest and size; none before it was made.
  std::optional<image::Descriptor> known() const;
};

struct FinishedImage {
  image::Manifest manifest;
  std::string configuration{};  ///< JSON
};

/// An image whose layers know their digests as soon as anybody can know them.
class LazyImage {
public:
  virtual ~LazyImage() = default;
  virtual const std::string& name() const = 0;
  /// In the order of the manifest.
  virtual const std::vector<LazyLayer>& layers() const = 0;
  /// Manifest and configuration; every layer must have been read, or be known.
  virtual FinishedImage finish() const = 0;
};

image::Descriptor descriptor_of(const image::LayerFacts& facts);

/// The image as something to read from, layers compressed as often as they are read. Makes those
/// that are not known once, for their digests.
image::Source source_of(const LazyImage& image);

}  // namespace autopack::packaging
