#pragma once

#include "base/report.hpp"
#include "compare/contents.hpp"
#include "image/source.hpp"

#include <cstdint>
#include <set>
#include <vector>

namespace autopack::compare {

/// What an image may cost to read.
struct ReadingLimits {
  std::uint64_t bytes{std::uint64_t{64} << 30U};  ///< of files, unpacked
  std::size_t entries{2'000'000};
};

/// The layers of an image, from the base upwards.
std::vector<LayerFacts> layers_of(const image::Source& source);

/// What is in `source`; of its layers those in `unread` are passed over. Throws
/// Error(environment) for a layer that is damaged or beyond the limits, Error(remote) for one that
/// is not what the configuration says, Error(interrupted).
Contents read_image(const Cancellation& cancellation,
                    const image::Source& source,
                    const std::set<Digest>& unread,
                    const ReadingLimits& limits = {});

}  // namespace autopack::compare
