#include "cli/services.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "google/artifact_registry.hpp"
#include "google/project.hpp"
#include "google/service.hpp"
#include "version.hpp"

namespace autopack::cli {

namespace {

constexpr auto* user_agent = "autopack/" AUTOPACK_VERSION;

}  // namespace

std::unique_ptr<Services> make_services(const Surroundings& surroundings,
                                        const GlobalOptions& global,
                                        Reporter& reporter) {
  // Later makers refer to the complete object, which exists by then.
  const auto whole = std::make_shared<Services*>(nullptr);
  const auto& environment = surroundings.environment;
  ServiceMakers makers;
  makers.client = [&](const Cancellation* cancellation) {
    return surroundings.make_client(
        {.user_agent = user_agent, .reporter = &reporter, .cancellation = cancellation});
  };
  makers.docker = [&, whole] {
    const auto endpoint = engine::find_endpoint(environment, global.engine_host);
    return surroundings.make_docker({.endpoint = endpoint,
                                     .credentials = (*whole)->credentials,
                                     .proxies = engine::find_proxies(environment, endpoint.url),
                                     .reporter = &reporter,
                                     .cancellation = surroundings.cancellation,
                                     .client = &(*whole)->client()});
  };
  makers.google = [&, whole] { return find_google_credentials(global, **whole); };
  makers.artifact_registry = [&, whole] { return find_artifact_registry(global, **whole); };
  makers.cloud_build = [&, whole] { return find_cloud_build(global, **whole); };
  makers.credentials = find_registry_logins(
      environment, [whole]() -> google::TokenSource& { return (*whole)->google(); });
  auto services = std::make_unique<Services>(environment, reporter, surroundings.cancellation,
                                             std::move(makers));
  *whole = services.get();
  return services;
}

registry::CredentialSource find_registry_logins(const Environment& environment,
                                                const std::function<google::TokenSource&()>& google,
                                                const Cancellation* cancellation) {
  return registry::first_of({registry::make_docker_credentials(environment, cancellation),
                             registry::make_podman_credentials(environment, cancellation),
                             google::make_registry_login(google)});
}

std::unique_ptr<google::TokenSource> find_google_credentials(const GlobalOptions& global,
                                                             Services& services) {
  const auto& environment = services.environment;
  const auto configuration = google::read_gcloud_configuration(environment, global.configuration);
  const auto token_file =
      google::find_access_token_file(global.access_token_file, environment, configuration);
  return google::find_credentials(
      {.access_token_file = token_file.value,
       .environment = &environment,
       .client = &services.client(),
       .sleep = google::interruptible_sleep(services.cancellation),
       .billing_project = global.billing_project,
       .access_token_file_origin = token_file.origin,
       .account = google::find_account(global.account, environment),
       .impersonate = google::find_impersonation(global.impersonate, environment, configuration),
       .configuration = configuration,
       .token_directory = environment.cache_directory() / "tokens",
       .cancellation = services.cancellation,
       .reporter = services.reporter});
}

google::CloudBuildOptions find_cloud_build(const GlobalOptions& global, Services& services) {
  const auto& environment = services.environment;
  const auto configuration = google::read_gcloud_configuration(environment, global.configuration);
  const auto address_of = [&](const char* api) {
    return google::find_endpoint(api, environment, configuration).value;
  };
  google::CloudBuildOptions options{
      .service = {.credentials = services.google.function(),
                  .client = &services.client(),
                  .sleep = google::interruptible_sleep(services.cancellation)},
      .uninterrupted = services.unstoppable_client.function(),
      .project = google::find_project(global.project, environment, configuration, {}).value,
      .region = google::find_region(global.region, environment, configuration).value,
      .endpoint_override = address_of("cloudbuild"),
      .storage_override = address_of("storage")};
  const auto jobs = address_of("aiplatform");
  const auto there = jobs ? Url::parse(*jobs) : std::nullopt;
  if (there && there->is_loopback() && (!options.endpoint_override || !options.storage_override)) {
    throw Error(ErrorKind::environment,
                "jobs go to this machine, which has no replacement for Cloud Build and its bucket");
  }
  return options;
}

google::ArtifactRegistryOptions find_artifact_registry(const GlobalOptions& global,
                                                       Services& services) {
  const auto& environment = services.environment;
  const auto configuration = google::read_gcloud_configuration(environment, global.configuration);
  return {.caller = {.client = &services.client(), .credentials = &services.google()},
          .endpoint_override =
              google::find_endpoint("artifactregistry", environment, configuration).value,
          .cancellation = services.cancellation};
}

}  // namespace autopack::cli
