#include "cli/preflight.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/services.hpp"
#include "google/project.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

constexpr std::uint64_t largest_source = 1'000'000;  // bytes

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

/// See preflight::uses_data_workers.
Problems worker_findings(const packaging::ScannedProject& scanned) {
  Problems findings;
  source::SelectionWalk selected{scanned.project.ignore};
  const auto is_kept = [&](const source::Entry& entry) { return !selected.excludes(entry); };
  source::walk(*scanned.tree, "", is_kept, [&](const source::Entry& entry) {
    if (!findings.empty() || entry.type != source::EntryType::file ||
        !entry.path.ends_with(".py") || entry.size > largest_source || !is_kept(entry) ||
        !preflight::uses_data_workers(scanned.tree->read(entry.path))) {
      return;
    }
    findings.push_back(preflight::warning(
        "data-workers", fmt::format("`{}` loads data in worker processes", entry.path),
        "they share memory, of which a replica has little: `Bus error` tells that it ran out",
        {"torch.multiprocessing.set_sharing_strategy('file_system'), or num_workers=0"}));
  });
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

/// The run's own services, but through a client that these checks can end.
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

Problems offline_findings(const preflight::PlannedJob& job,
                          const pipeline::Checked& checked,
                          bool tables) {
  auto findings = preflight::check_offline(job, tables);
  if (checked.wanted) {
    append(findings, worker_findings(checked.wanted->scanned));
  }
  return findings;
}

void preflight_or_throw(Session& session,
                        const pipeline::SubmissionRequest& request,
                        const pipeline::Checked& checked,
                        bool ask) {
  const bool tables = !request.checks.skip_tables;
  const auto job = planned_job(request, checked);
  auto findings = offline_findings(job, checked, tables);
  const auto kind = has_errors(findings) ? ErrorKind::usage : ErrorKind::remote;
  if (ask && tables) {
    PreflightSources asked{session, request.location};
    append(findings, preflight::run_checks(preflight::online_checks(job, asked.sources()),
                                           asked.stop(), *session.services.cancellation));
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
