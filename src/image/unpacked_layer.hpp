#pragma once

#include "base/digest.hpp"
#include "image/source.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace autopack::image {

/// Limits of one unpacked layer.
struct UnpackLimits {
  std::uint64_t bytes{std::uint64_t{1} << 40U};         ///< of all files together
  std::uint64_t entries{10'000'000};                    ///< files, directories and links
  std::uint64_t free_bytes{std::uint64_t{256} << 20U};  ///< left free on the disk
};

/// Unpacks a layer, a tar that may be compressed with gzip or zstd, into the empty `directory`, so
/// that overlayfs can mount it above others: with its whiteouts, and the attribute
/// `user.overlay.opaque`. Everything belongs to this user and can be read and removed by this user;
/// set-id bits are dropped, devices and pipes left out. Writes nothing outside of `directory`,
/// whatever the layer contains. Returns the digest of the uncompressed tar. Throws
/// Error(environment) naming `what`.
Digest unpack_layer(const Reader& layer,
                    const std::filesystem::path& directory,
                    const std::string& what,
                    const UnpackLimits& limits = {});

}  // namespace autopack::image
