#include "cli/google_services.hpp"

#include "google/project.hpp"

namespace autopack::cli {

namespace {

std::string override_of(const Session& session, const char* api) {
  const auto& environment = session.services.environment;
  return google::find_endpoint(
             api, environment,
             google::read_gcloud_configuration(environment, session.global.configuration))
      .value;
}

}  // namespace

GoogleServices::GoogleServices(Session& session)
    : service_{{.credentials = session.services.google,
                .client = &session.services.client(),
                .sleep = google::interruptible_sleep(session.services.cancellation)}},
      aiplatform_{override_of(session, "aiplatform")},
      logging_{override_of(session, "logging")} {}

}  // namespace autopack::cli
