#pragma once

#include "image/manifest.hpp"
#include "image/source.hpp"
#include "support/raw_tar.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack {

/// Returns an image in memory with these layers, the base first, as uncompressed tars. `config` is
/// the JSON of its configuration's part of that name.
inline image::Source image_of(const std::vector<RawTar>& tars, const std::string& config = "{}") {
  std::map<Digest, std::string> blobs;
  std::vector<image::Descriptor> layers;
  std::string ids;
  for (const auto& tar : tars) {
    const auto bytes = tar.bytes();
    layers.push_back({.media_type = std::string{image::media_type::oci_plain_layer},
                      .digest = sha256(bytes),
                      .size = bytes.size()});
    blobs[layers.back().digest] = bytes;
    ids += (ids.empty() ? "\"" : ",\"") + layers.back().digest.str() + "\"";
  }
  const std::string configuration = R"({"architecture":"amd64","config":)" + config +
                                    R"(,"os":"linux","rootfs":{"diff_ids":[)" + ids +
                                    R"(],"type":"layers"}})";
  return {.name = "memory",
          .digest = sha256("a manifest"),
          .manifest = {.media_type = std::string{image::media_type::oci_manifest},
                       .config = {.media_type = std::string{image::media_type::oci_config},
                                  .digest = sha256(configuration),
                                  .size = configuration.size()},
                       .layers = layers},
          .configuration = configuration,
          .open = [blobs](const image::Descriptor& layer) -> image::Reader {
            return [bytes = blobs.at(layer.digest), at = std::size_t{0}](char* buffer,
                                                                         std::size_t size) mutable {
              const std::size_t count = bytes.copy(buffer, size, at);
              at += count;
              return count;
            };
          }};
}

}  // namespace autopack
