#pragma once

#include "google/job_name.hpp"
#include "google/jobs.hpp"
#include "job/candidates.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Attempts of the same job in several places, as the service lists them.
namespace autopack::submit {

/// Returns the labels of a job in the API's form.
std::map<std::string, std::string> labels_of(const nlohmann::json& job);

/// Returns the id of the job's group: that of its label, else of its submission, which later
/// attempts get as their group; for a job of another tool one derived from its name.
std::string group_of(const nlohmann::json& job);

/// Returns the number of the attempt; 1 for a job without one.
std::size_t attempt_number(const nlohmann::json& job);

/// Returns the accelerator of the job's first pool, or of its trials'.
std::optional<std::string> accelerator_of(const nlohmann::json& job);

/// An attempt of a group.
struct ListedAttempt {
  google::JobName name{};
  std::size_t number{1};
  google::Job job{};
};

/// Returns `first` and the attempts of its group in `regions`, by number. Throws as Jobs::list
/// does.
std::vector<ListedAttempt> list_attempts(const google::Jobs& jobs,
                                         const ListedAttempt& first,
                                         const std::vector<std::string>& regions);

/// Returns true if one of `attempts` was in the place.
bool was_tried(const std::vector<ListedAttempt>& attempts, const job::Candidate& candidate);

}  // namespace autopack::submit
