#pragma once

#include "job/job.hpp"
#include "job/tables.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// Flags and file as one CustomJob, not yet checked.
struct Draft {
  std::shared_ptr<nlohmann::json> body{};
  JobKind kind{JobKind::custom_job};
  Origins origins{};
  std::vector<std::size_t> packaged_pools{};
  std::optional<PoolFlags> packaging{};

  bool is_packaged(std::size_t pool) const;
};

/// `jobSpec.workerPoolSpecs[INDEX]`.
std::string pool_path(std::size_t index);

/// Merges by pool into a draft that holds the file, flags winning key by key. Flags that reach no
/// pool become problems.
void merge_pools(const JobFlags& flags, Draft& draft, Problems& problems);

/// Sets the fields of the whole job. Durations and key names that are none become problems.
void merge_fields(const JobFlags& flags,
                  const Location& location,
                  Draft& draft,
                  Problems& problems);

/// Sets study and trial counts of a tuning job; for other kinds flags of a study are problems.
void merge_study(const StudyFlags& flags, Draft& draft, Problems& problems);

/// Sets model and dataset of a pipeline; for other kinds its flags are problems.
void merge_pipeline(const PipelineFlags& flags, Draft& draft, Problems& problems);

/// A message of the schema from `KEY=VALUE,...`, keys written `mount-point` for `mountPoint`, lists
/// split at `;`. What does not fit is added to `problems`, named after `flag`.
nlohmann::json message_of_pairs(std::string_view value,
                                const tables::Message& message,
                                const std::string& flag,
                                Problems& problems);

/// `metrics` of a study: `accuracy:maximize`. Null, and a problem, when `text` is none.
nlohmann::json metric_of_flag(const std::string& text, Problems& problems);
/// `parameters` of a study: `NAME:double:MIN..MAX:log`, `NAME:int:1..9`, `NAME:discrete:1|2|4`,
/// `NAME:categorical:a|b`; the type may be left out. Null, and a problem, when `text` is none.
nlohmann::json parameter_of_flag(const std::string& text, Problems& problems);

}  // namespace autopack::job
