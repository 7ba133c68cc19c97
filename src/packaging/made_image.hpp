#pragma once

#include "image/reference.hpp"
#include "packaging/image.hpp"
#include "packaging/lazy_image.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace autopack::packaging {

/// An image that can be read, and its place in a registry when one has it.
struct ParentImage {
  image::Source image;
  std::optional<image::Reference> reference{};
};

/// An image that is opened for reading when it is first asked for, and once.
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

/// What a builder hands to the publishers: an image that is in the engine, in its registry, or not
/// anywhere yet.
struct MadeImage {
  Image image{};
  /// Where it is put together; null when an engine or a registry has it already.
  std::unique_ptr<LazyImage> lazy{};
  std::optional<image::Reference> parent{};  ///< of `lazy`, when a registry has it
  bool in_engine{false};
  bool in_registry{false};  ///< under the tag of its key
  LazySource source{};      ///< of the image, wherever it is
  std::chrono::steady_clock::time_point started{std::chrono::steady_clock::now()};
};

}  // namespace autopack::packaging
