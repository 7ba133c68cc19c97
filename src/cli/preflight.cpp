#include "cli/preflight.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/services.hpp"
#include "google/project.hpp"
#include "pipeline/package.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

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

/// Returns an error for each ready image of `job` that only this machine's engine is known to have:
/// its name has no registry, and it was never pulled or pushed under it.
Problems local_images(Services& services, const preflight::PlannedJob& job) {
  Problems findings;
  for (const auto& name : job.ready_images()) {
    if (image::Reference::fault(name) || image::Reference::parse(name).names_registry()) {
      continue;
    }
    bool is_local = name.starts_with("sha256:");
    try {
      const auto found = is_local ? std::nullopt : services.docker().inspect(name);
      is_local = is_local || (found && found->repository_digests.empty());
    } catch (const Error& error) {
      services.reporter->detail(error.what());  // without an engine nothing is local
    }
    if (is_local) {
      findings.push_back(preflight::failing(
          "image", fmt::format("only this machine has the image `{}`", printable(name)),
          "the job runs elsewhere and pulls its image from a registry",
          {fmt::format("docker tag {0} REGISTRY/NAME && docker push REGISTRY/NAME",
                       shell_quote(name))}));
    }
  }
  return findings;
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

preflight::PlannedJob planned_job(const pipeline::SubmissionRequest& request,
                                  const pipeline::Checked& checked) {
  auto job = preflight::read_job(checked.job, request.location);
  if (checked.wanted && checked.wanted->name.has_registry) {
    const auto& name = checked.wanted->name;
    job.packaged =
        preflight::PlannedImage{.target = name.reference,
                                .is_default_name = name.is_default,
                                .executor = non_empty(checked.wanted->request.executor_image),
                                .platform = request.package->options.platform};
  }
  return job;
}

void preflight_or_throw(Session& session,
                        const pipeline::SubmissionRequest& request,
                        const pipeline::Checked& checked,
                        bool ask) {
  const bool tables = !request.checks.skip_tables;
  const auto job = planned_job(request, checked);
  auto findings = preflight::check_offline(job, tables);
  if (tables) {
    append(findings, local_images(session.services, job));
  }
  const auto kind = has_errors(findings) ? ErrorKind::usage : ErrorKind::remote;
  if (ask && tables) {
    PreflightSources asked{session, request.location};
    append(findings, preflight::run_checks(preflight::online_checks(job, asked.sources()),
                                           asked.stop(), *session.services.cancellation));
  }
  if (has_errors(findings) && checked.wanted) {
    append(findings, pipeline::find_offline(session.services, checked.wanted));
  }
  findings = preflight::in_order(findings);
  for (const auto& finding : findings) {
    if (finding.severity == Problem::Severity::unknown) {
      session.console.detail(
          fmt::format("not checked: {}: {}", finding.message, finding.reason.value_or("")));
    } else if (finding.severity == Problem::Severity::warning) {
      session.console.warn(finding);
    }
  }
  throw_if_errors(findings, kind);
}

}  // namespace autopack::cli
