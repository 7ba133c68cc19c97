#include "pipeline/submission.hpp"

#include "base/json.hpp"
#include "image/file_reference.hpp"
#include "pipeline/base.hpp"
#include "pipeline/secrets.hpp"
#include "project/hypertune.hpp"

namespace autopack::pipeline {

namespace {

/// Gathers what several checks found, so that the user mends all of it at once.
class Findings {
public:
  template <class Step>
  void run(Step&& step) {
    try {
      std::forward<Step>(step)();
    } catch (const Error& error) {
      if (exit_status(error.kind()) != exit_status(ErrorKind::usage)) {
        throw;
      }
      kind_ = problems_.empty() ? error.kind() : kind_;
      add(error);
    }
  }

  void add(const Problems& problems) {
    problems_.insert(problems_.end(), problems.begin(), problems.end());
  }

  void throw_if_any() const {
    if (std::any_of(problems_.begin(), problems_.end(),
                    [](const Problem& p) { return p.severity == Problem::Severity::error; })) {
      throw Error(kind_, problems_);
    }
  }

private:
  void add(const Error& error) {
    if (!error.problems().empty()) {
      add(error.problems());
      return;
    }
    Problem problem{.message = error.message(), .hints = error.hints()};
    for (const auto& cause : error.causes()) {
      problem.message += ": " + cause;
    }
    problems_.push_back(std::move(problem));
  }

  Problems problems_;
  ErrorKind kind_{ErrorKind::usage};
};

}  // namespace

Checked check(const SubmissionRequest& request, const submit::Submitter* submitter) {
  Checked checked;
  Findings findings;
  findings.run([&] {
    checked.job = job::make_job(request.flags, request.config ? &*request.config : nullptr,
                                request.location, request.checks, request.earlier);
    if (submitter != nullptr) {
      findings.add(submitter->check(checked.job));
    }
  });
  if (request.package) {
    findings.run([&] { checked.scanned = scan(*request.package); });
    const std::string job_name = request.flags.display_name.empty()
                                     ? request.flags.fallback_display_name
                                     : request.flags.display_name;
    findings.run([&] {
      checked.name = name_image(
          request.output_image,
          checked.job.display_name.empty() ? job_name : checked.job.display_name, request.location);
    });
    if (!request.package->executor_image.empty()) {
      findings.run([&] {
        const auto& base = request.package->executor_image;
        if (!image::FileReference::parse(base)) {
          image::Reference::parse(base);
        }
      });
    }
  }
  findings.throw_if_any();
  if (checked.scanned && job::is_tuning(checked.job.kind) && !request.flags.own_dockerfile &&
      !project::names_hypertune(*checked.scanned->tree, checked.scanned->project)) {
    checked.job.warnings.push_back(
        {.severity = Problem::Severity::warning,
         .message = "the program seems not to report its metrics: no requirement and no import "
                    "names cloudml-hypertune",
         .hints = {"--with-hypertune adds it; the program calls "
                   "hypertune.HyperTune().report_hyperparameter_tuning_metric"}});
  }
  return checked;
}

DryRun dry_run(Services& services,
               const SubmissionRequest& request,
               const Checked& checked,
               const submit::Submitter& submitter) {
  DryRun result;
  if (checked.scanned) {
    const auto& package = *request.package;
    const image::BaseFacts base =
        package.executor_image.empty()
            ? image::BaseFacts{.platform = package.options.platform}
            : base_or_assumed(services, package.executor_image, package.options.platform);
    const plan::Plan plan = decide(services, package, *checked.scanned, base);
    refuse_secrets(services, plan);
    const auto& own = checked.name.reference;
    result.image = own.tag.empty() ? checked.name.keyed(plan).tagged() : own.tagged();
  }
  result.request = submitter.prepare(job::with_image(checked.job, result.image));
  return result;
}

Submitted submit(Services& services,
                 const SubmissionRequest& request,
                 const Checked& checked,
                 submit::Submitter* submitter,
                 const std::function<void(const Image& image)>& packaged) {
  Submitted result;
  if (submitter != nullptr) {
    submitter->make_ready();
  }
  if (checked.scanned) {
    result.image =
        package(services, *request.package, *checked.scanned, checked.name, request.push);
    packaged(*result.image);
  }
  if (submitter != nullptr) {
    services.cancellation->throw_if_requested();
    result.job = submitter->submit(
        job::with_image(checked.job, result.image ? result.image->uri() : std::string{}));
  }
  return result;
}

}  // namespace autopack::pipeline
