#include "base/text.hpp"
#include "pipeline/submission.hpp"
#include "preflight/problems.hpp"
#include "preflight/rules.hpp"

#include <fmt/format.h>

namespace autopack::pipeline {

namespace {

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

job::Job with_planned_image(const job::Job& job, const preflight::PlannedJob& planned) {
  if (!planned.packaged) {
    return job;
  }
  return job::with_image(
      job, fmt::format("{}@sha256:{:0>64}", planned.packaged->target.repository(), ""));
}

}  // namespace

preflight::PlannedJob planned_job(const pipeline::SubmissionRequest& request,
                                  const pipeline::Checked& checked) {
  auto job = preflight::read_job(checked.job, request.location);
  if (checked.wanted && checked.wanted->name.has_registry) {
    const auto& name = checked.wanted->name;
    job.packaged =
        preflight::PlannedImage{.target = name.reference,
                                .is_default_name = name.is_default,
                                .executor = non_empty(checked.wanted->request.executor_image),
                                .platform = request.package->options.platform,
                                .uses_cloud_build = checked.wanted->request.uses_cloud_build};
  }
  return job;
}

void check_planned_job(Services& services,
                       const SubmissionRequest& request,
                       const Checked& checked,
                       const AskServices& ask) {
  const bool tables = !request.checks.skip_tables;
  const bool asks = tables || request.checks.on_cluster;
  const auto job = planned_job(request, checked);
  auto findings = preflight::check_offline(job, tables);
  if (asks) {
    append(findings, local_images(services, job));
  }
  const auto kind = has_errors(findings) ? ErrorKind::usage : ErrorKind::remote;
  if (ask && asks) {
    append(findings, ask(job, with_planned_image(checked.job, job)));
  }
  if (has_errors(findings) && checked.wanted) {
    append(findings, find_offline(services, checked.wanted));
  }
  findings = preflight::in_order(findings);
  for (const auto& finding : findings) {
    if (finding.severity == Problem::Severity::unknown) {
      services.reporter->detail(
          fmt::format("not checked: {}: {}", finding.message, finding.reason.value_or("")));
    } else if (finding.severity == Problem::Severity::warning) {
      services.reporter->warn(finding);
    }
  }
  throw_if_errors(findings, kind);
}

}  // namespace autopack::pipeline
