#pragma once

#include "packaging/made_image.hpp"
#include "packaging/packaging.hpp"

namespace autopack::packaging {

/// A way to make an image.
class Builder {
public:
  virtual ~Builder() = default;
  /// Returns the image of `work`, reusing an existing one if it is still valid. The result may
  /// refer to `work`, which must outlive it.
  virtual MadeImage make(const Packaging& work) = 0;
};

/// Whether a step may reuse results of earlier ones.
enum class Freshness { cached, anew };

}  // namespace autopack::packaging
