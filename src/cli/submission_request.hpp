#pragma once

#include "cli/command.hpp"
#include "cli/job_options.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/submission.hpp"

#include <string>

namespace autopack::cli {

/// The checks to skip.
struct SkippedChecks {
  bool program{false};  ///< a program that certainly fails at its start is not an error
  bool service{false};  ///< asks neither services nor the tables of their offers
};

/// Adds `--skip-checks`: all checks, or one group. `into` is for skipped_checks().
void add_skip_checks_flag(FlagSet& flags, std::string& into);

/// Returns the checks that a value of `--skip-checks` skips.
SkippedChecks skipped_checks(const std::string& value);

/// How the flags of a job are read.
struct RequestReading {
  SkippedChecks checks{};
  bool on_cluster{false};  ///< Kubernetes or Slurm runs it: no machine type and region is inferred
};

/// Returns the job of the flags, parsed but not checked; unreadable values are in `earlier`.
pipeline::SubmissionRequest read_submission_request(const Session& session,
                                                    const JobOptions& job,
                                                    const BuildOptions& build,
                                                    const RequestReading& how);

}  // namespace autopack::cli
