#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace autopack::cli {

/// Returns the attempts, in other regions than `regions`, of the groups that `jobs` belong to. What
/// cannot be listed is a detail of `reporter`.
std::vector<nlohmann::json> attempts_elsewhere(const google::Jobs& service,
                                               const std::vector<nlohmann::json>& jobs,
                                               const std::vector<std::string>& regions,
                                               Reporter& reporter);

/// Returns `jobs` with the attempts of each group, also those in `others`, as one: the newest, with
/// the others in its display name: `taxi (attempt 2 in us-east1; before: 41 in us-central1)`.
std::vector<nlohmann::json> join_attempts(const std::vector<nlohmann::json>& jobs,
                                          const std::vector<nlohmann::json>& others);

}  // namespace autopack::cli
