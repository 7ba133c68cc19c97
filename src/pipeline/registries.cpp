#include "pipeline/registries.hpp"

#include "google/artifact_registry.hpp"
#include "registry/certificates.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::pipeline {

namespace {

registry::RepositoryOptions options_for(Services& services, const std::string& host) {
  return {.client = &services.client(),
          .credentials = services.credentials,
          .cancellation = services.cancellation,
          .tls = registry::find_certificates(
              registry::certificate_directories(services.environment), host)};
}

/// True when the repository of `name` is there now: only one that the user did not name is made.
bool make_missing(Services& services, const ImageName& name) {
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

/// What a daemon passes on of a registry's NAME_UNKNOWN.
bool tells_missing_repository(const Error& error) {
  return std::any_of(error.causes().begin(), error.causes().end(), [](const std::string& cause) {
    return cause.find("name unknown: Repository") != std::string::npos;
  });
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

std::unique_ptr<registry::Repository> open_target(Services& services, const ImageName& name) {
  auto options = options_for(services, name.reference.host);
  options.make_missing = [&services, name] { return make_missing(services, name); };
  return registry::make_repository(name.reference.host, name.reference.path, registry::Access::push,
                                   std::move(options));
}

engine::PushResult push_with_engine(Services& services,
                                    const ImageName& name,
                                    const image::Reference& reference) {
  try {
    return services.docker().push(reference);
  } catch (const Error& error) {
    if (!tells_missing_repository(error) || !make_missing(services, name)) {
      throw;
    }
  }
  return services.docker().push(reference);
}

}  // namespace autopack::pipeline
