#pragma once

#include "cli/command.hpp"
#include "cli/job_options.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/submission.hpp"

#include <string>

namespace autopack::cli {

/// The checks that are left out.
struct SkippedChecks {
  bool program{false};  ///< a program that certainly ends at its start is no error
  bool service{false};  ///< neither services nor tables of what they offer are asked
};

/// `--skip-checks`: of all checks, or of one group. `into` is for skipped_checks().
void add_skip_checks_flag(FlagSet& flags, std::string& into);

/// What the value of `--skip-checks` leaves out.
SkippedChecks skipped_checks(const std::string& value);

/// The job that the flags ask for, read but not checked: what cannot be read is in `earlier`.
pipeline::SubmissionRequest read_submission_request(const Session& session,
                                                    const JobOptions& job,
                                                    const BuildOptions& build,
                                                    const SkippedChecks& skipped);

}  // namespace autopack::cli
