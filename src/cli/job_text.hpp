#pragma once

#include "cli/error_text.hpp"
#include "job/job.hpp"
#include "job/location.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// Returns a table of jobs: a heading, then one line for each, with times in the time zone of this
/// machine. Empty without jobs.
std::string job_table(const std::vector<nlohmann::json>& jobs, const Paint& paint = Paint{false});

/// Returns a job's fields, one per line and indented as in YAML.
std::string job_details(const nlohmann::json& job);

/// Returns the description of a job for a page, where packaged pools run `image`: its facts, and
/// its worker pools in order, an empty one as a name alone. Contains only the names of environment
/// variables; words of commands that look like a secret are `***`.
nlohmann::json job_object(const job::Job& job,
                          const std::optional<std::string>& image,
                          const job::Location& location);

/// Returns a table of a tuning job's trials, the best first by its first metric; empty without
/// trials.
std::string trial_table(const nlohmann::json& job, const Paint& paint = Paint{false});

/// Returns the best trial of a tuning job with its parameters as flags, which can be pasted:
/// `trial 10: loss=7.66e-06 --lr=0.00994 --opt=adam`. Returns nothing if no trial succeeded with a
/// metric.
std::optional<std::string> best_trial(const nlohmann::json& job);

}  // namespace autopack::cli
