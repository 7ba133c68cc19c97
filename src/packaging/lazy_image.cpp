#include "packaging/lazy_image.hpp"

#include <map>

namespace autopack::packaging {

image::Descriptor descriptor_of(const image::LayerFacts& facts) {
  return {.media_type = std::string{image::media_type::oci_layer},
          .digest = facts.digest,
          .size = facts.size};
}

std::optional<image::Descriptor> LazyLayer::known() const {
  if (blob.known || !facts || !*facts) {
    return blob.known;
  }
  return descriptor_of(**facts);
}

image::Source source_of(const LazyImage& image) {
  std::map<Digest, registry::BlobSource> openers;
  for (const LazyLayer& layer : image.layers()) {
    if (!layer.known()) {
      image::read_all(layer.blob.open(), [](std::string_view) {});
    }
    openers[layer.known().value().digest] = layer.blob.open;
  }
  auto made = image.finish();
  return {.name = image.name(),
          .digest = sha256(image::to_json(made.manifest)),
          .manifest = std::move(made.manifest),
          .configuration = std::move(made.configuration),
          .open = [openers = std::move(openers)](const image::Descriptor& layer) {
            return openers.at(layer.digest)();
          }};
}

}  // namespace autopack::packaging
