#pragma once

#include "base/report.hpp"
#include "compare/contents.hpp"
#include "image/source.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace autopack::compare {

/// Limits for reading an image.
struct ReadingLimits {
  std::uint64_t bytes{std::uint64_t{64} << 30U};  ///< unpacked size of files
  std::size_t entries{2'000'000};
};

/// Returns the layers of an image, from the base upwards.
std::vector<LayerFacts> layers_of(const image::Source& source);

/// Returns the contents of `source`; skips the layers in `unread`. Throws Error(environment) for a
/// layer that is damaged or beyond the limits, Error(remote) for one that does not match the
/// configuration, and Interrupted.
Contents read_image(const Cancellation& cancellation,
                    const image::Source& source,
                    const std::set<Digest>& unread,
                    const ReadingLimits& limits = {});

}  // namespace autopack::compare
