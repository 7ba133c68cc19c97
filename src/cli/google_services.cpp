#include "cli/google_services.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "google/project.hpp"

namespace autopack::cli {

namespace {

std::optional<std::string> override_of(const Session& session, const char* api) {
  const auto& environment = session.services.environment;
  return google::find_endpoint(
             api, environment,
             google::read_gcloud_configuration(environment, session.global.configuration))
      .value;
}

}  // namespace

GoogleServices::GoogleServices(Session& session)
    : service_{{.credentials = session.services.google.function(),
                .client = &session.services.client(),
                .sleep = google::interruptible_sleep(session.services.cancellation)}},
      aiplatform_{override_of(session, "aiplatform")},
      logging_{override_of(session, "logging")} {
  // A replacement of one API replaces the other too: its token is not sent to Google.
  const auto jobs = aiplatform_ ? Url::parse(*aiplatform_) : std::nullopt;
  if (!logging_ && jobs && jobs->is_loopback()) {
    logging_ = aiplatform_;
  }
}

}  // namespace autopack::cli
