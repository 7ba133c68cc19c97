#include "base/digest.hpp"
#include "image/manifest.hpp"
#include "rebase/parts.hpp"
#include "registry/client.hpp"
#include "services/repositories.hpp"

#include <set>

namespace autopack::rebase {

namespace {

/// Returns the path of `place` if its layers can be mounted into `target`.
std::optional<std::string> mountable(const std::optional<image::Reference>& place,
                                     const image::Reference& target) {
  return place && place->host == target.host && place->path != target.path
             ? std::optional{place->path}
             : std::nullopt;
}

}  // namespace

std::uint64_t send(Services& services,
                   const image::Source& image,
                   const image::Reference& target,
                   const std::optional<image::Reference>& image_place,
                   const std::optional<image::Reference>& base_place,
                   std::size_t base_layers) {
  const auto repository = open_repository(services, target, registry::Access::push);
  std::vector<registry::Blob> blobs;
  std::set<Digest> seen;
  for (std::size_t i = 0; i < image.manifest.layers.size(); ++i) {
    const auto& layer = image.manifest.layers[i];
    // Foreign layers are in no registry.
    if (layer.urls.empty() && seen.insert(layer.digest).second) {
      blobs.push_back(
          {.known = layer,
           .open = [&image, layer] { return image.open(layer); },
           .mount_from = mountable(i < base_layers ? base_place : image_place, target)});
    }
  }
  blobs.push_back(
      {.known = image.manifest.config, .open = registry::source_of(image.configuration)});
  std::uint64_t sent = 0;
  for (const auto& pushed : registry::push_blobs(*repository, blobs, {})) {
    sent += pushed.uploaded ? pushed.size : 0;
  }
  auto text = image::to_json(image.manifest);
  const auto digest = sha256(text);
  const registry::StoredManifest stored{
      .media_type = image.manifest.media_type, .text = std::move(text), .digest = digest};
  repository->put_manifest(stored, std::nullopt);
  if (target.tag) {
    repository->put_manifest(stored, target.tag);
  }
  return sent;
}

}  // namespace autopack::rebase
