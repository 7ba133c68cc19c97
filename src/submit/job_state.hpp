#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace autopack::submit {

/// The state of a job (JobState and PipelineState of the API).
struct JobState {
  std::string word{};  ///< `running`: the API's word without its prefix; `unknown` without a state
  bool ended{false};   ///< the state changes only if a person acts
  bool succeeded{false};
};

JobState state_of(const nlohmann::json& job);

/// Returns why an ended job failed, with the fix and exit status 1; nothing if it succeeded.
std::optional<Error> failure_of(const nlohmann::json& job);

/// Returns the id of the job that writes the logs: the job itself, or the one that a pipeline
/// started. Returns nothing while that is unknown.
std::optional<std::string> logging_job_id(const nlohmann::json& job);

}  // namespace autopack::submit
