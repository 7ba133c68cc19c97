#pragma once

#include "image/reference.hpp"
#include "packaging/image.hpp"
#include "packaging/lazy_image.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace autopack::packaging {

/// An image that can be read, and its name in a registry, if any.
struct ParentImage {
  image::Source image;
  std::optional<image::Reference> reference{};
};

/// An image that is opened for reading on first use, and only once.
class LazySource {
public:
  LazySource() = default;

  explicit LazySource(std::function<image::Source()> open) : open_{std::move(open)} {}

  const image::Source& get() {
    if (!source_) {
      source_ = open_();
    }
    return *source_;
  }

private:
  std::function<image::Source()> open_{};
  std::optional<image::Source> source_{};
};

/// The result of a builder for the publishers: an image in the engine, in its registry, or not
/// anywhere yet.
struct MadeImage {
  Image image{};
  /// The recipe of the image; null if an engine or a registry already has it.
  std::unique_ptr<LazyImage> lazy{};
  std::optional<image::Reference> parent{};  ///< of `lazy`, if a registry has it
  bool in_engine{false};
  bool in_registry{false};  ///< under the tag of its key
  LazySource source{};      ///< of the image, wherever it is
  std::chrono::steady_clock::time_point started{std::chrono::steady_clock::now()};
};

}  // namespace autopack::packaging
