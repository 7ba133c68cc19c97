#pragma once

#include "job/flags.hpp"
#include "job/job.hpp"
#include "job/location.hpp"
#include "job/tables.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Each function merges some of the flags into a job read from a file.
namespace autopack::job {

/// Merges pool by pool; flags override the file key by key. Reports flags that apply to no pool as
/// problems.
void merge_pools(const JobFlags& flags, Job& job, Problems& problems);

/// Merges the fields of the whole job. Reports invalid durations and key names as problems.
void merge_fields(const JobFlags& flags, const Location& location, Job& job, Problems& problems);

/// Merges study and trial counts of a tuning job; for other kinds, reports study flags as problems.
void merge_study(const JobFlags& flags, Job& job, Problems& problems);

/// Merges model and dataset of a pipeline; for other kinds, reports pipeline flags as problems.
void merge_pipeline(const JobFlags& flags, Job& job, Problems& problems);

/// Returns a message of the schema from an object or `KEY=VALUE,...`, with keys such as
/// `mount-point` for `mountPoint`, and lists in text split at `;`. Reports what does not match in
/// `problems`, with the name `flag`.
nlohmann::json message_of_pairs(const FlagValue& value,
                                const tables::Message& message,
                                const std::string& flag,
                                Problems& problems);

/// Parses a metric of a study: `accuracy:maximize`. Reports a problem and returns nothing if `text`
/// is not a metric.
std::optional<Metric> metric_of_flag(const std::string& text, Problems& problems);
/// Parses a parameter of a study: `NAME:double:MIN..MAX:log`, `NAME:int:1..9`,
/// `NAME:discrete:1|2|4`, `NAME:categorical:a|b`; the type is optional. Reports a problem and
/// returns nothing if `text` is not a parameter.
std::optional<Parameter> parameter_of_flag(const std::string& text, Problems& problems);

}  // namespace autopack::job
