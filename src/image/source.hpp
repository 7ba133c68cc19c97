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

/// Fills the buffer, returns the bytes written; 0 at the end. May throw.
using Reader = std::function<std::size_t(char* buffer, std::size_t size)>;

/// An image that can be read, wherever it stands.
struct Source {
  std::string name{};  ///< for messages
  Digest digest;       ///< of what the name stands for: an index or a manifest
  Manifest manifest;
  std::string configuration{};  ///< JSON
  /// A layer from its start. Reading throws at the end when the bytes are not those of `layer`.
  std::function<Reader(const Descriptor& layer)> open{};
};

/// `reader`, which at its end throws Error(environment) when size or digest are not those of
/// `blob`; `where` says what holds it.
Reader verified(Reader reader, const Descriptor& blob, std::string where);

/// What the configuration says of each layer. Throws Error(remote) when it and the manifest tell of
/// different layers: an image on top of it could not be run. Compressed layers are held against it
/// where they are read: see read_layers.
std::vector<Digest> check_layers(const Source& source);

Error broken_image(const Source& source, const std::string& why);

/// Reads `reader` to its end.
void read_all(const Reader& reader, const std::function<void(std::string_view bytes)>& take);

/// The manifest with OCI's media types, as a layout wants them; its blobs stay the same.
Manifest as_oci(Manifest manifest);

/// True when a layer of this type is a tar that nobody compressed.
bool is_plain_tar(const Descriptor& layer);

}  // namespace autopack::image
