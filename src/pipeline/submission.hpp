#pragma once

#include "job/make_job.hpp"
#include "pipeline/package.hpp"
#include "project/inference.hpp"
#include "submit/submitter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// A job as the user asked for it.
struct SubmissionRequest {
  job::JobFlags flags{};
  std::optional<job::Config> config{};
  Problems earlier{};  ///< findings of reading flags and file
  job::Location location{};
  job::CheckOptions checks{};
  std::optional<std::string> output_image{};
  /// The packaging, when a pool asks for one.
  std::optional<packaging::Request> package{};
  bool may_push{true};         ///< of the packaged image
  bool needs_registry{false};  ///< the job runs elsewhere: what only this machine has is refused
  /// What was chosen because nobody did, before the project was read.
  std::vector<project::Inferred> inferred{};
};

/// A job that passed every check that can be made offline.
struct Checked {
  job::Job job{};
  Problems warnings{};
  WantedPtr wanted{};                         ///< the image to be packaged; null when there is none
  std::vector<project::Inferred> inferred{};  ///< all that nobody chose
};

struct Submitted {
  std::optional<packaging::Image> image{};
  submit::SubmittedJob job{};
};

/// The rules of job, project, image name and submitter (may be null), all findings as one error,
/// those of the program among them, before any engine or service is touched.
Checked check(Services& services,
              const SubmissionRequest& request,
              const submit::Submitter* submitter);

/// What would be sent; nothing is built. The packaged image by the tag it would get.
struct DryRun {
  std::optional<std::string> image{};          ///< none when nothing is packaged
  std::optional<packaging::Packaging> work{};  ///< none when nothing is packaged
  submit::PreparedRequest request{};
};

DryRun dry_run(Services& services, const Checked& checked, const submit::Submitter& submitter);

/// Package, then send: the body holds the digest. Without a submitter it ends after the push.
/// `packaged` is told the image before the job is sent.
Submitted submit(Services& services,
                 const Checked& checked,
                 submit::Submitter* submitter,
                 const std::function<void(const packaging::Image& image)>& packaged);

}  // namespace autopack::pipeline
