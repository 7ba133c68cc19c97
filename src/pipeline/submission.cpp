#include "pipeline/submission.hpp"

#include "executor/executor_image.hpp"
#include "pipeline/advice.hpp"
#include "pipeline/explanation.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/secrets.hpp"

namespace autopack::pipeline {

Checked prepare(Services& services,
                const SubmissionRequest& request,
                const submit::Submitter* submitter,
                const AskServices& ask) {
  Checked checked = check(services, request, submitter);
  report_choices(services, checked.wanted.get(), checked.inferred);
  for (const auto& warning : checked.warnings) {
    services.reporter->warn(warning);
  }
  if (request.needs_registry) {
    check_planned_job(services, request, checked, ask);
  }
  return checked;
}

DryRun dry_run(Services& services, const Checked& checked, const submit::Submitter& submitter) {
  DryRun result;
  if (checked.wanted) {
    const auto& work = result.work.emplace(plan_packaging(
        services, checked.wanted, executor::facts_or_assumed(services, checked.wanted->request)));
    Adviser{services, work, find_secrets(work.plan())}.report_all(executor::LookInto::engine);
    report_scanned(*services.reporter, work);
    if (const auto cloud = explain_cloud_build(services, work)) {
      services.reporter->done("Cloud Build",
                              "unless the registry has the result: " + cloud->text());
    }
    const auto& own = work.name().reference;
    result.image = own.tag ? own.tagged() : work.keyed_name().tagged();
  }
  result.request =
      submitter.prepare(result.image ? job::with_image(checked.job, *result.image) : checked.job);
  return result;
}

Submitted submit(Services& services,
                 const Checked& checked,
                 submit::Submitter* submitter,
                 const std::function<void(const packaging::Image& image)>& packaged) {
  Submitted result;
  if (submitter != nullptr) {
    submitter->make_ready();
  }
  if (checked.wanted) {
    result.image = package(services, checked.wanted);
    packaged(*result.image);
  }
  if (submitter != nullptr) {
    services.cancellation->throw_if_requested();
    result.job = submitter->submit(result.image ? job::with_image(checked.job, result.image->uri())
                                                : checked.job);
  }
  return result;
}

}  // namespace autopack::pipeline
