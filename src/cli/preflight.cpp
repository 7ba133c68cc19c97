#include "cli/preflight.hpp"

#include "cli/services.hpp"
#include "google/project.hpp"
#include "services/repositories.hpp"

namespace autopack::cli {

namespace {

preflight::GoogleApisOptions api_options(const Session& session,
                                         const job::Location& location,
                                         Services& services) {
  const auto configuration =
      google::read_gcloud_configuration(services.environment, session.global.configuration);
  return {.endpoints = preflight::Endpoints{services.environment, configuration, location.region},
          .client = &services.client(),
          .credentials = [&global = session.global, &services] {
            return find_google_credentials(global, services);
          }};
}

}  // namespace

PreflightSources::PreflightSources(Session& session, const job::Location& location)
    : client_{session.services.new_client(&stop_)},
      services_{session.services.environment, *session.services.reporter, &stop_,
                makers(session.services.environment)},
      apis_{api_options(session, location, services_)},
      project_{apis_, location.project},
      sources_{.apis = &apis_,
               .project = &project_,
               .repository = [this](const image::Reference& image, registry::Access access) {
                 return open_repository(services_, image, access);
               }} {}

/// Returns the run's own services, but with a client that these checks can end.
ServiceMakers PreflightSources::makers(const Environment& environment) {
  ServiceMakers makers;
  makers.client = [this](const Cancellation*) { return client_; };
  makers.google = [this] {
    return std::shared_ptr<google::TokenSource>{std::shared_ptr<void>{}, &apis_.credentials()};
  };
  makers.credentials = find_registry_logins(
      environment, [this]() -> google::TokenSource& { return services_.google(); }, &stop_);
  return makers;
}

Problems ask_services(Session& session,
                      const job::Location& location,
                      const preflight::PlannedJob& job) {
  PreflightSources asked{session, location};
  return preflight::run_checks(preflight::online_checks(job, asked.sources()), asked.stop(),
                               *session.services.cancellation);
}

std::vector<Problems> ask_quotas(Session& session, const std::vector<preflight::PlannedJob>& jobs) {
  PreflightSources asked{session, jobs.front().location};
  preflight::QuotaFindings found;
  const auto unanswered =
      preflight::run_checks(preflight::quota_checks(jobs, asked.sources(), found), asked.stop(),
                            *session.services.cancellation);
  for (const auto& finding : unanswered) {
    session.console.detail("not checked: " + finding.text());
  }
  return std::move(found.of_jobs);
}

}  // namespace autopack::cli
