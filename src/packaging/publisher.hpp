#pragma once

#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"

namespace autopack::packaging {

/// One place that an image goes to.
class Publisher {
public:
  virtual ~Publisher() = default;
  /// Brings `made`, the image of `work`, there, and notes in it what became known on the way.
  virtual void publish(const Packaging& work, MadeImage& made) = 0;
};

}  // namespace autopack::packaging
