#pragma once

#include "base/digest.hpp"
#include "base/error.hpp"
#include "image/manifest.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::image {

/// Fills the buffer and returns the number of bytes; 0 at the end. May throw.
using Reader = std::function<std::size_t(char* buffer, std::size_t size)>;

/// An image that can be read, wherever it is.
struct Source {
  std::string name{};  ///< for messages
  Digest digest;       ///< of the index or manifest that the name refers to
  Manifest manifest;
  std::string configuration{};  ///< JSON
  /// Opens a layer at its start. The reader throws at the end if the bytes do not match `layer`.
  std::function<Reader(const Descriptor& layer)> open{};
};

/// Wraps `reader` so that it throws Error(environment) at its end if size or digest do not match
/// `blob`; `where` names the container of the blob.
Reader verified(Reader reader, const Descriptor& blob, std::string where);

/// Returns the configuration's digest of each layer. Throws Error(remote) if the configuration and
/// the manifest list different layers: an image on top of it could not run. read_layers compares
/// compressed layers with these digests.
std::vector<Digest> check_layers(const Source& source);

Error broken_image(const Source& source, const std::string& why);

/// Returns the next `limit` bytes of `reader`, or all if it has fewer.
std::string beginning_of(const Reader& reader, std::size_t limit);

/// Reads `reader` to its end.
void read_all(const Reader& reader, const std::function<void(std::string_view bytes)>& take);

/// Returns the manifest with OCI's media types, as a layout needs it. The blobs stay the same.
Manifest as_oci(Manifest manifest);

/// True if a layer of this type is an uncompressed tar.
bool is_plain_tar(const Descriptor& layer);

}  // namespace autopack::image
