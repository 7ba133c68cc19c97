#pragma once

#include "pipeline/submission.hpp"

namespace autopack::pipeline {

/// Checks a job that runs elsewhere before anything is built: reports warnings, and throws all
/// errors at once. Calls `ask` unless it is empty or the checks are skipped. Reports what could not
/// be checked as a detail.
void check_planned_job(Services& services,
                       const SubmissionRequest& request,
                       const Checked& checked,
                       const AskServices& ask);

}  // namespace autopack::pipeline
