#pragma once

#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"

namespace autopack::packaging {

/// A destination of an image.
class Publisher {
public:
  virtual ~Publisher() = default;
  /// Sends `made`, the image of `work`, to this destination, and records in it what became known.
  virtual void publish(const Packaging& work, MadeImage& made) = 0;
};

}  // namespace autopack::packaging
