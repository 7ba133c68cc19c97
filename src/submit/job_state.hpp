#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace autopack::submit {

/// Where a job stands (JobState and PipelineState of the API).
struct JobState {
  std::string word{};  ///< `running`: the API's own, without its prefix; `unknown` without a state
  bool ended{false};   ///< nothing more happens by itself
  bool succeeded{false};
};

JobState state_of(const nlohmann::json& job);

/// Why an ended job is no success, with what mends it; none when it succeeded. Its exit status
/// is 1.
std::optional<Error> failure_of(const nlohmann::json& job);

/// Id of the job that writes the logs: its own, or for a pipeline that of the job it started; none
/// while that is not known.
std::optional<std::string> logging_job_id(const nlohmann::json& job);

}  // namespace autopack::submit
