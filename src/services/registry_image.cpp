#include "services/registry_image.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

namespace autopack {

namespace {

std::string manifest_text(Services& services,
                          registry::Repository& repository,
                          const image::Reference& reference,
                          const std::string& platform) {
  if (auto text = services.blob_cache.get(*reference.digest); text && !image::is_index(*text)) {
    return *text;
  }
  const auto found = repository.image_manifest(reference.digest->str(), platform);
  if (!found) {
    throw Error(ErrorKind::remote, fmt::format("the registry has no `{}`", reference.text));
  }
  services.blob_cache.put(found->text);
  return found->text;
}

}  // namespace

image::Source registry_image(Services& services,
                             std::shared_ptr<registry::Repository> repository,
                             const image::Reference& reference,
                             const std::string& platform) {
  image::Source source{
      .name = reference.text,
      .digest = *reference.digest,
      .manifest = image::parse_manifest(manifest_text(services, *repository, reference, platform),
                                        fmt::format("the manifest of `{}`", reference.text))};
  const auto& config = source.manifest.config;
  auto text = services.blob_cache.get(config.digest);
  if (!text) {
    text = repository->read_blob(config);
    services.blob_cache.put(*text);
  }
  source.configuration = std::move(*text);
  image::check_layers(source);
  source.open = [repository = std::move(repository)](const image::Descriptor& layer) {
    auto reader = registry::blob_source(*repository, layer)();
    return [repository, reader = std::move(reader)](char* buffer, std::size_t size) {
      return reader(buffer, size);
    };
  };
  return source;
}

image::Source registry_image(Services& services,
                             const image::Reference& reference,
                             const std::string& platform) {
  return registry_image(services, open_repository(services, reference, registry::Access::pull),
                        reference, platform);
}

image::Source named_image(Services& services,
                          const image::Reference& reference,
                          const std::string& platform) {
  auto exact = reference;
  const std::shared_ptr<registry::Repository> repository =
      open_repository(services, exact, registry::Access::pull);
  if (!exact.digest) {
    const auto found = repository->head_manifest(exact.tag.value_or("latest"));
    if (!found) {
      throw Error(ErrorKind::remote,
                  fmt::format("the registry has no image `{}`", printable(exact.text)));
    }
    exact.digest = found->digest;
  }
  return registry_image(services, repository, exact, platform);
}

}  // namespace autopack
