#pragma once

#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"

namespace autopack::packaging {

/// One way to make an image.
class Builder {
public:
  virtual ~Builder() = default;
  /// The image of `work`, as it was made before where that will do. It may refer to `work`, which
  /// must outlive it.
  virtual MadeImage make(const Packaging& work) = 0;
};

/// Whether a step may take what earlier ones left behind.
enum class Freshness { cached, anew };

}  // namespace autopack::packaging
