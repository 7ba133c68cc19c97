#pragma once

#include "base/scratch_directory.hpp"
#include "image/facts.hpp"
#include "packaging/lazy_image.hpp"
#include "packaging/packaging.hpp"
#include "pipeline/planning.hpp"
#include "services/services.hpp"

#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// An image that is made again to be compared: from its files and wheels, not from cached layers.
class Rebuild {
public:
  /// Plans the image of `wanted` on `executor`. Makes nothing yet.
  Rebuild(Services& services, const WantedPtr& wanted, const image::BaseFacts& executor);

  const packaging::Packaging& work() const { return work_; }

  /// Makes the image without an engine, except for packages that have to be built, and without a
  /// registry to push to. Returns nothing if only an engine can make it, and then sets `obstacle`.
  /// This must outlive the result.
  std::optional<image::Source> make(std::string& obstacle);

private:
  Services& services_;
  packaging::Packaging work_;
  std::unique_ptr<ScratchDirectory> scratch_;
  std::unique_ptr<packaging::LazyImage> image_{};
};

}  // namespace autopack::pipeline
