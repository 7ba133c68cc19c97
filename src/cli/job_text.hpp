#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace autopack::cli {

/// Returns a table of jobs: a heading, then one line for each. Empty without jobs.
std::string job_table(const std::vector<nlohmann::json>& jobs);

/// Returns a job's fields, one per line and indented as in YAML.
std::string job_details(const nlohmann::json& job);

}  // namespace autopack::cli
