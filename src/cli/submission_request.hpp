#pragma once

#include "cli/command.hpp"
#include "cli/job_options.hpp"
#include "cli/packaging_options.hpp"
#include "pipeline/submission.hpp"

namespace autopack::cli {

/// The job that the flags ask for, read but not checked: what cannot be read is in `earlier`.
pipeline::SubmissionRequest read_submission_request(const Session& session,
                                                    const JobOptions& job,
                                                    const BuildOptions& build,
                                                    bool skip_checks);

}  // namespace autopack::cli
