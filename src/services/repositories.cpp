#include "services/repositories.hpp"

#include "google/artifact_registry.hpp"
#include "image/manifest.hpp"
#include "registry/certificates.hpp"

#include <fmt/format.h>

namespace autopack {

namespace {

registry::RepositoryOptions options_for(Services& services, const std::string& host) {
  return {.client = &services.client(),
          .credentials = services.credentials,
          .cancellation = services.cancellation,
          .tls = registry::find_certificates(
              registry::certificate_directories(services.environment), host)};
}

/// Creates the repository of `name` unless the user chose the name; returns true if it exists now.
bool make_missing(Services& services, const packaging::ImageName& name) {
  const auto repository = google::repository_of(name.reference);
  if (!name.is_default || !repository || !services.artifact_registry) {
    return false;
  }
  if (google::ensure_repository(services.artifact_registry(), *repository) ==
      google::Ensured::created) {
    services.reporter->done("Created", fmt::format("repository {}", repository->str()));
  }
  return true;
}

}  // namespace

std::unique_ptr<registry::Repository> open_repository(Services& services,
                                                      const image::Reference& reference,
                                                      registry::Access access,
                                                      const http::RetryLimits& retries) {
  auto options = options_for(services, reference.host);
  options.retries = retries;
  return registry::make_repository(reference.host, reference.path, access, std::move(options));
}

std::unique_ptr<registry::Repository> open_target(Services& services,
                                                  const packaging::ImageName& name) {
  auto options = options_for(services, name.reference.host);
  options.make_missing = [&services, name] { return make_missing(services, name); };
  return registry::make_repository(name.reference.host, name.reference.path, registry::Access::push,
                                   std::move(options));
}

std::shared_ptr<RepositoryFacts> open_repository_facts(Services& services,
                                                       const packaging::ImageName& name) {
  const auto& reference = name.reference;
  return std::make_shared<RepositoryFacts>(
      // No retries: without the remembered facts, the layers are read instead.
      [&services, reference] {
        return open_repository(services, reference, registry::Access::pull, {.attempts = 1});
      },
      services.environment.cache_directory() / "told" / sha256(reference.repository()).hex(),
      services.blob_cache, *services.reporter);
}

bool make_repository_if_missing(Services& services, const packaging::ImageName& name) {
  if (!name.is_default || !google::repository_of(name.reference)) {
    return false;
  }
  bool was_made = false;
  auto options = options_for(services, name.reference.host);
  options.make_missing = [&] { return was_made = make_missing(services, name); };
  const auto repository = registry::make_repository(name.reference.host, name.reference.path,
                                                    registry::Access::push, std::move(options));
  try {
    repository->check_access();
  } catch (const registry::Refused&) {
    return was_made;
  } catch (const http::TransportError&) {
    return was_made;
  }
  return was_made;
}

std::vector<std::int64_t> run_times(Services& services,
                                    registry::Repository& repository,
                                    const Digest& digest,
                                    const std::string& platform) {
  auto text = services.blob_cache.get(digest);
  if (!text || image::is_index(*text)) {
    const auto found = repository.image_manifest(digest.str(), platform);
    if (!found) {
      return {};
    }
    text = found->text;
    services.blob_cache.put(*text);
  }
  const auto config = image::parse_manifest(*text, "the manifest of the dependencies").config;
  auto configuration = services.blob_cache.get(config.digest);
  if (!configuration) {
    configuration = repository.read_blob(config);
    services.blob_cache.put(*configuration);
  }
  return image::Configuration::parse(*configuration, "the configuration of the dependencies")
      .run_times();
}

}  // namespace autopack
