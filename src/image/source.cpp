#include "image/source.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace autopack::image {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> oci_types{{
    {media_type::docker_manifest, media_type::oci_manifest},
    {media_type::docker_config, media_type::oci_config},
    {media_type::docker_layer, media_type::oci_layer},
    {"application/vnd.docker.image.rootfs.diff.tar", media_type::oci_plain_layer},
    {"application/vnd.docker.image.rootfs.diff.tar.zstd",
     "application/vnd.oci.image.layer.v1.tar+zstd"},
    {"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip",
     "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip"},
}};

std::string oci_type(const std::string& type) {
  for (const auto& [docker, oci] : oci_types) {
    if (type == docker) {
      return std::string{oci};
    }
  }
  return type;
}

}  // namespace

Reader verified(Reader reader, const Descriptor& blob, std::string where) {
  struct State {
    Sha256 hash{};
    std::uint64_t size{0};
    bool ended{false};
  };

  return [reader = std::move(reader), blob, where = std::move(where),
          state = std::make_shared<State>()](char* buffer, std::size_t size) {
    if (state->ended) {
      return std::size_t{0};
    }
    const std::size_t count = reader(buffer, size);
    state->ended = count == 0;
    state->hash.update({buffer, count});
    state->size += count;
    if (count == 0 && (state->size != blob.size || state->hash.finish() != blob.digest)) {
      throw Error(ErrorKind::environment,
                  fmt::format("blob `{}` of {} is damaged", blob.digest.str(), where))
          .cause(state->size == blob.size
                     ? std::string{"its content has another digest"}
                     : fmt::format("it has {} bytes instead of {}", state->size, blob.size));
    }
    return count;
  };
}

Error broken_image(const Source& source, const std::string& why) {
  return Error(ErrorKind::remote, fmt::format("image `{}` is broken", printable(source.name)))
      .cause(why)
      .hint("build and push it again, or use another image");
}

std::vector<Digest> check_layers(const Source& source) {
  const auto& layers = source.manifest.layers;
  auto diff_ids = Configuration::parse(source.configuration,
                                       "the configuration of `" + printable(source.name) + "`")
                      .diff_ids();
  if (layers.size() != diff_ids.size()) {
    throw broken_image(source, fmt::format("its manifest names {} layers, its configuration {}",
                                           layers.size(), diff_ids.size()));
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (is_plain_tar(layers[i]) && layers[i].digest != diff_ids[i]) {
      throw broken_image(source, fmt::format("layer `{}` is `{}` in its configuration",
                                             layers[i].digest.str(), diff_ids[i].str()));
    }
  }
  return diff_ids;
}

std::string beginning_of(const Reader& reader, std::size_t limit) {
  std::string bytes;
  std::array<char, 65536> buffer{};
  while (bytes.size() < limit) {
    const std::size_t count = reader(buffer.data(), std::min(buffer.size(), limit - bytes.size()));
    if (count == 0) {
      break;
    }
    bytes.append(buffer.data(), count);
  }
  return bytes;
}

void read_all(const Reader& reader, const std::function<void(std::string_view)>& take) {
  constexpr std::size_t piece_size{65536};
  std::string buffer(piece_size, '\0');
  while (const std::size_t count = reader(buffer.data(), buffer.size())) {
    take({buffer.data(), count});
  }
}

Manifest as_oci(Manifest manifest) {
  manifest.media_type = media_type::oci_manifest;
  manifest.config.media_type = media_type::oci_config;
  for (Descriptor& layer : manifest.layers) {
    layer.media_type = oci_type(layer.media_type);
  }
  return manifest;
}

bool is_plain_tar(const Descriptor& layer) {
  return oci_type(layer.media_type) == media_type::oci_plain_layer;
}

}  // namespace autopack::image
