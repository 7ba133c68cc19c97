#include "base/json.hpp"
#include "base/text.hpp"
#include "image/file_reference.hpp"
#include "pipeline/devices.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"
#include "pipeline/submission.hpp"
#include "project/program/named_distributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::pipeline {

namespace {

/// Collects the findings of several checks, so that the user can fix them all at once.
class ProblemCollector {
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
      for (const auto& problem : error.as_problems()) {
        add(problem);
      }
    }
  }

  Problems& all() { return problems_; }

  /// Adds it once, even if a rule of the job and the scan report the same.
  void add(const Problem& problem) {
    const auto same = std::ranges::find_if(problems_, [&](const Problem& other) {
      return other.message == problem.message &&
             (!other.origin || !problem.origin || other.origin == problem.origin);
    });
    if (same == problems_.end()) {
      problems_.push_back(problem);
      return;
    }
    same->origin = same->origin ? same->origin : problem.origin;
    same->hints = same->hints.empty() ? problem.hints : same->hints;
  }

  /// Throws all findings if an error is among them, including `warnings`.
  void throw_if_any(const Problems& warnings) {
    if (has_errors(problems_)) {
      std::ranges::for_each(warnings, [this](const auto& one) { add(one); });
      throw Error(kind_, problems_);
    }
  }

private:
  Problems problems_;
  ErrorKind kind_{ErrorKind::usage};
};

/// Treats `NAMESPACE/NAME` as a name of Docker Hub, like `docker push`. Throws Error(usage) for a
/// name that no registry accepts: the job would find no image.
void settle_registry(const SubmissionRequest& request,
                     const std::string& job_name,
                     packaging::ImageName& name) {
  if (name.has_registry || !request.output_image) {
    return;  // without project and region there is no default name, which is an error of its own
  }
  if (name.reference.path.find('/') != std::string::npos &&
      !name.reference.path.starts_with("library/")) {
    name.reference = image::Reference::parse("docker.io/" + name.reference.text);
    name.has_registry = true;
    return;
  }
  Error error{ErrorKind::usage,
              fmt::format("`{}` names no registry, so only this machine would have the image, and "
                          "the job runs elsewhere",
                          printable(*request.output_image))};
  if (request.location.is_complete()) {
    error.hint(
        fmt::format("`--output-image-uri={}`",
                    name_image(std::nullopt, job_name, request.location).reference.repository()));
  }
  throw std::move(error).hint("`docker.io/USER/NAME` is an image of Docker Hub");
}

/// Reads the project and names its image; adds the findings to `problems`.
std::shared_ptr<packaging::Wanted> check_image(const SubmissionRequest& request,
                                               ProblemCollector& problems) {
  auto wanted = std::make_shared<packaging::Wanted>(
      packaging::Wanted{.request = *request.package, .may_push = request.may_push});
  problems.run([&] {
    auto scanned = scan_wanted(*request.package);
    scanned->may_push = request.may_push;
    wanted = std::move(scanned);
  });
  problems.run([&] {
    const auto* const config = request.config ? &*request.config : nullptr;
    const auto job_name = job::display_name(request.flags, config);
    wanted->name = name_image(request.output_image, job_name, request.location);
    if (request.needs_registry) {
      settle_registry(request, job_name, wanted->name);
    }
  });
  const auto& base = wanted->request.executor_image;
  if (!base.empty() && !image::FileReference::parse(base)) {
    problems.run([&] { image::Reference::parse(base); });
  }
  return wanted;
}

/// Returns a required library that a GPU accelerates, by the name of its distribution.
std::optional<std::string> named_gpu_library(const packaging::ScannedProject& scanned) {
  static const std::vector<std::string> libraries{"torch", "tensorflow", "jax", "cupy", "xgboost"};
  const auto named = project::named_distributions(*scanned.tree, scanned.project).names;
  const auto found =
      std::find_first_of(libraries.begin(), libraries.end(), named.begin(), named.end());
  return found == libraries.end() ? std::nullopt : std::optional{*found};
}

/// Takes them from `wanted` (may be null), so that they are reported once.
std::vector<project::Inferred> take_inferred(const SubmissionRequest& request,
                                             packaging::Wanted* wanted) {
  std::vector<project::Inferred> all;
  if (wanted != nullptr) {
    all = std::exchange(wanted->inferred, {});
    if (wanted->request.infers && !request.output_image) {
      all.push_back({.what = "image name",
                     .value = wanted->name.reference.repository(),
                     .reason = wanted->name.has_registry ? "region, project and display name"
                                                         : "the display name",
                     .flag = "--output-image-uri"});
    }
  }
  for (auto one : request.inferred) {
    const auto library = one.flag == "--machine-type" && wanted != nullptr
                             ? named_gpu_library(wanted->scanned)
                             : std::nullopt;
    if (library) {
      one.reason += fmt::format("; `{}` could use one: `--accelerator-type`", *library);
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

Checked check(Services& services,
              const SubmissionRequest& request,
              const submit::Submitter* submitter) {
  Checked checked;
  ProblemCollector problems;
  const auto* const config = request.config ? &*request.config : nullptr;
  problems.run([&] {
    auto made =
        job::make_job(request.flags, config, request.location, request.checks, request.earlier);
    checked.job = std::move(made.job);
    checked.warnings = std::move(made.warnings);
    if (submitter != nullptr) {
      auto found = submitter->check(checked.job);
      auto& reported = has_errors(found) ? problems.all() : checked.warnings;
      append(reported, std::move(found));
    }
  });
  const auto wanted = [&]() -> std::shared_ptr<packaging::Wanted> {
    if (!request.package) {
      return nullptr;
    }
    const ReadingStep step{*services.reporter, *request.package};
    return check_image(request, problems);
  }();
  if (wanted && request.knows_devices) {
    wanted->request.devices = devices_of(planned_job(request, checked));
  }
  checked.wanted = wanted;
  if (has_errors(problems.all()) && wanted && wanted->scanned.tree) {
    for (const auto& problem : find_offline(services, wanted)) {
      problems.add(problem);
    }
  }
  problems.throw_if_any(checked.warnings);
  checked.inferred = take_inferred(request, wanted.get());
  if (checked.wanted && job::is_tuning(checked.job.kind) && !request.flags.own_dockerfile &&
      !project::names_hypertune(*checked.wanted->scanned.tree, checked.wanted->scanned.project)) {
    checked.warnings.push_back(Problem::warning(
        {.message = "the program seems not to report its metrics: no requirement and no import "
                    "names cloudml-hypertune",
         .hints = {"--with-hypertune adds it; the program calls "
                   "hypertune.HyperTune().report_hyperparameter_tuning_metric"}}));
  }
  if (job::is_tuning(checked.job.kind) && checked.job.max_trials.value_or(1) == 1 &&
      !request.flags.study.max_trial_count) {
    checked.warnings.push_back(Problem::warning(
        {.message = "one trial is no search, and without `--max-trial-count` there is one",
         .hints = {"--max-trial-count=20"}}));
  }
  return checked;
}

}  // namespace autopack::pipeline
