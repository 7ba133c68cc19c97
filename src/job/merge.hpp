#pragma once

#include "job/flags.hpp"
#include "job/job.hpp"
#include "job/location.hpp"
#include "job/tables.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

/// Each lays some of the flags over a job, which holds what the file says.
namespace autopack::job {

/// By pool, flags winning key by key. Flags that reach no pool become problems.
void merge_pools(const JobFlags& flags, Job& job, Problems& problems);

/// The fields of the whole job. Durations and key names that are none become problems.
void merge_fields(const JobFlags& flags, const Location& location, Job& job, Problems& problems);

/// Study and trial counts of a tuning job; for other kinds flags of a study are problems.
void merge_study(const JobFlags& flags, Job& job, Problems& problems);

/// Model and dataset of a pipeline; for other kinds its flags are problems.
void merge_pipeline(const JobFlags& flags, Job& job, Problems& problems);

/// A message of the schema from an object or `KEY=VALUE,...`, keys written `mount-point` for
/// `mountPoint`, lists in text split at `;`. What does not fit is added to `problems`, named after
/// `flag`.
nlohmann::json message_of_pairs(const FlagValue& value,
                                const tables::Message& message,
                                const std::string& flag,
                                Problems& problems);

/// A metric of a study: `accuracy:maximize`. None, and a problem, when `text` is no metric.
std::optional<Metric> metric_of_flag(const std::string& text, Problems& problems);
/// A parameter of a study: `NAME:double:MIN..MAX:log`, `NAME:int:1..9`, `NAME:discrete:1|2|4`,
/// `NAME:categorical:a|b`; the type may be left out. None, and a problem, when `text` is none.
std::optional<Parameter> parameter_of_flag(const std::string& text, Problems& problems);

}  // namespace autopack::job
