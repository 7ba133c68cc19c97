#pragma once

#include "cli/flags.hpp"
#include "cli/job_options.hpp"

namespace autopack::cli {

/// Adds the flags of `tune`: the study and its trials.
void add_study_flags(FlagSet& flags, JobOptions& options);

/// Adds `--as`, and the flags of a training pipeline besides its job.
void add_pipeline_flags(FlagSet& flags, JobOptions& options);

}  // namespace autopack::cli
