#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::cli {

/// Returns a table of a tuning job's trials, the best first by its first metric; empty without
/// trials.
std::string trial_table(const nlohmann::json& job);

}  // namespace autopack::cli
