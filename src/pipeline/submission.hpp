#pragma once

#include "job/candidates.hpp"
#include "job/make_job.hpp"
#include "pipeline/package.hpp"
#include "preflight/planned_job.hpp"
#include "project/program/inference.hpp"
#include "submit/submitter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// A job as requested by the user.
struct SubmissionRequest {
  job::JobFlags flags{};
  std::optional<job::Config> config{};
  Problems earlier{};  ///< findings from reading flags and file
  job::Location location{};
  /// The places to try, if there are several; flags and location have the first.
  job::CandidateLists candidates{};
  bool infers_machine{false};  ///< nobody named the machine type
  job::CheckOptions checks{};
  std::optional<std::string> output_image{};
  /// The packaging, if a pool requires one.
  std::optional<packaging::Request> package{};
  bool may_push{true};         ///< the packaged image may be pushed
  bool needs_registry{false};  ///< the job runs elsewhere: images that only this machine has are
                               ///< refused
  bool knows_devices{true};    ///< the accelerators of the job are those that its program gets
  /// Choices inferred before the project was read.
  std::vector<project::Inferred> inferred{};
};

/// A job that passed every offline check.
struct Checked {
  job::Job job{};
  Problems warnings{};
  WantedPtr wanted{};                         ///< the image to package; null if there is none
  std::vector<project::Inferred> inferred{};  ///< all inferred choices
};

struct Submitted {
  std::optional<packaging::Image> image{};
  submit::SubmittedJob job{};
};

/// Checks the rules of job, project, image name and submitter (may be null) before using any engine
/// or service. Throws all findings as one error, including those about the program.
Checked check(Services& services,
              const SubmissionRequest& request,
              const submit::Submitter* submitter);

/// Returns the facts of a checked job that preflight checks use.
preflight::PlannedJob planned_job(const SubmissionRequest& request, const Checked& checked);

/// Asks services about a job; returns the findings. `body` is the job as it would be sent, with a
/// digest of zeros for an image that is still to be made.
using AskServices = std::function<Problems(const preflight::PlannedJob& job, const job::Job& body)>;

/// Does everything that comes before a build: checks the job, reports what nobody chose, and checks
/// a job that runs elsewhere, with `ask` if it is not empty. Throws all errors at once.
Checked prepare(Services& services,
                const SubmissionRequest& request,
                const submit::Submitter* submitter,
                const AskServices& ask);

/// The request that would be sent; nothing is built. Names the packaged image by its future tag.
struct DryRun {
  std::optional<std::string> image{};          ///< absent if nothing is packaged
  std::optional<packaging::Packaging> work{};  ///< absent if nothing is packaged
  submit::PreparedRequest request{};
};

DryRun dry_run(Services& services, const Checked& checked, const submit::Submitter& submitter);

/// Packages, then sends: the body contains the digest. Without a submitter it ends after the push.
/// Calls `packaged` with the image before the job is sent.
Submitted submit(Services& services,
                 const Checked& checked,
                 submit::Submitter* submitter,
                 const std::function<void(const packaging::Image& image)>& packaged);

/// Checks a job that runs elsewhere before anything is built: reports warnings, and throws all
/// errors at once. Calls `ask` unless it is empty or the checks are skipped. Reports what could not
/// be checked as a detail.
void check_planned_job(Services& services,
                       const SubmissionRequest& request,
                       const Checked& checked,
                       const AskServices& ask);

}  // namespace autopack::pipeline
