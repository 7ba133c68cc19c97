#pragma once

#include "cli/flags.hpp"
#include "cli/job_options.hpp"

namespace autopack::cli {

/// The flags of `tune`: the study and its trials.
void add_study_flags(FlagSet& flags, JobOptions& options);

/// `--as`, and what a training pipeline has besides its job.
void add_pipeline_flags(FlagSet& flags, JobOptions& options);

}  // namespace autopack::cli
