#include "pipeline/submission.hpp"

#include "base/json.hpp"
#include "executor/executor_image.hpp"
#include "image/file_reference.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/scan.hpp"
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
  const auto* const config = request.config ? &*request.config : nullptr;
  findings.run([&] {
    auto made =
        job::make_job(request.flags, config, request.location, request.checks, request.earlier);
    checked.job = std::move(made.job);
    checked.warnings = std::move(made.warnings);
    if (submitter != nullptr) {
      findings.add(submitter->check(checked.job));
    }
  });
  if (request.package) {
    auto wanted = std::make_shared<packaging::Wanted>(
        packaging::Wanted{.request = *request.package, .may_push = request.may_push});
    findings.run([&] { wanted->scanned = scan(wanted->request); });
    findings.run([&] {
      wanted->name = name_image(request.output_image, job::display_name(request.flags, config),
                                request.location);
    });
    if (!request.package->executor_image.empty()) {
      findings.run([&] {
        const auto& base = request.package->executor_image;
        if (!image::FileReference::parse(base)) {
          image::Reference::parse(base);
        }
      });
    }
    checked.wanted = std::move(wanted);
  }
  findings.throw_if_any();
  if (checked.wanted && job::is_tuning(checked.job.kind) && !request.flags.own_dockerfile &&
      !project::names_hypertune(*checked.wanted->scanned.tree, checked.wanted->scanned.project)) {
    checked.warnings.push_back(
        {.severity = Problem::Severity::warning,
         .message = "the program seems not to report its metrics: no requirement and no import "
                    "names cloudml-hypertune",
         .hints = {"--with-hypertune adds it; the program calls "
                   "hypertune.HyperTune().report_hyperparameter_tuning_metric"}});
  }
  return checked;
}

DryRun dry_run(Services& services, const Checked& checked, const submit::Submitter& submitter) {
  DryRun result;
  if (checked.wanted) {
    const auto work = plan_packaging(services, checked.wanted,
                                     executor::facts_or_assumed(services, checked.wanted->request));
    tell_plan(services, work);
    refuse_secrets(services, work.plan());
    const auto& own = work.name().reference;
    result.image = own.tag.empty() ? work.keyed_name().tagged() : own.tagged();
  }
  result.request = submitter.prepare(job::with_image(checked.job, result.image));
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
    result.job = submitter->submit(
        job::with_image(checked.job, result.image ? result.image->uri() : std::string{}));
  }
  return result;
}

}  // namespace autopack::pipeline
