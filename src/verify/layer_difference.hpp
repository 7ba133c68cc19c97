#pragma once

#include "base/report.hpp"
#include "image/source.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace autopack::verify {

/// A file, link, directory or mark of removal that is not the same in two layers.
struct FileDifference {
  std::string path{};  ///< without a leading slash
  std::string what{};  ///< `its content`, `its mode is 0644 instead of 0755`
};

/// How two layers differ.
struct LayerDifference {
  std::vector<FileDifference> files{};  ///< the first ones, sorted by path
  std::size_t count{0};                 ///< of all
};

/// Limits for reading a layer.
struct LayerLimits {
  std::uint64_t bytes{std::uint64_t{64} << 30U};  ///< unpacked size of files
  std::size_t entries{2'000'000};
  std::size_t reported{100};
};

/// One of two layers to compare.
struct NamedLayer {
  std::string name{};  ///< for messages
  image::Reader reader{};
};

/// Compares every entry of the layers: type, content, mode, owner, time and extended attributes;
/// not the order of the entries. Says what `image` has instead of what `rebuilt` has. Throws
/// Error(environment) for a layer that is not a tar or beyond the limits, and Interrupted.
LayerDifference difference(const NamedLayer& image,
                           const NamedLayer& rebuilt,
                           const Cancellation& cancellation,
                           const LayerLimits& limits = {});

}  // namespace autopack::verify
