#pragma once

#include "cli/command.hpp"
#include "job/flags.hpp"
#include "job/job.hpp"
#include "job/prices.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::cli {

/// Returns the file of the prices that the user provided; it need not exist.
std::filesystem::path prices_file(const Environment& environment);

/// Returns the prices that the user provided; nothing if there are none, or they are unreadable.
std::optional<job::PriceList> known_prices(const Environment& environment);

/// Prints what an hour of the job costs in `region`, if the user provided prices; `object` gets it
/// as `cost`.
void report_cost(const Session& session,
                 const job::Job& job,
                 const std::optional<std::string>& region,
                 nlohmann::json& object);

/// Returns the machines that `own`, else the settings files name, as a job; nothing if they name
/// none.
std::optional<job::Job> job_of_settings(const Session& session, const job::PoolFlags& own = {});

}  // namespace autopack::cli
