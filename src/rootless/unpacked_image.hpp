#pragma once

#include "base/descriptor.hpp"
#include "base/report.hpp"
#include "image/source.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::rootless {

/// The unpacked layers of an image. As long as it exists, they are not removed.
struct UnpackedImage {
  std::string name{};                 ///< for messages
  std::filesystem::path directory{};  ///< of all layers
  std::vector<std::string> layers{};  ///< names in `directory`, from the base upwards; none twice
  std::string configuration{};        ///< JSON
  std::vector<FileDescriptor> locks{};
};

/// Directories with the unpacked layers of images, in the cache. Each layer is unpacked once, for
/// all images that have it. Several processes may use it at once, and be killed.
class UnpackedLayers {
public:
  /// `directory` is in the cache. `reporter` and `cancellation` must outlive it.
  UnpackedLayers(std::filesystem::path directory,
                 Reporter& reporter,
                 const Cancellation* cancellation)
      : directory_{std::move(directory)}, reporter_{reporter}, cancellation_{cancellation} {}

  /// Returns the layers of `source`, and unpacks those that are missing. Throws Error(environment)
  /// if one cannot be unpacked, and Error(remote) if one does not match the configuration.
  UnpackedImage unpack(const image::Source& source) const;

  /// Remembers that `user` (any text) needs the layers of `image` now, and removes those that it
  /// needed before and nobody needs any more.
  void keep_only(const std::string& user, const UnpackedImage& image) const;

private:
  std::filesystem::path layers() const { return directory_ / "layers"; }

  FileDescriptor unpack_layer(const image::Source& source,
                              const image::Descriptor& layer,
                              const Digest& plain,
                              const std::string& name) const;

  std::filesystem::path directory_;
  Reporter& reporter_;
  const Cancellation* cancellation_;
};

/// Returns the regular file `path` (relative) of the highest layer that has it; nothing if there is
/// none, or if it is larger than `limit` bytes.
std::optional<std::string> read_file(const UnpackedImage& image,
                                     const std::string& path,
                                     std::size_t limit = std::size_t{1} << 20U);

}  // namespace autopack::rootless
