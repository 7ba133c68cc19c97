#pragma once

#include "cli/command.hpp"
#include "local/records.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// True for `local/...`, which names a job of this machine.
bool is_local_job(std::string_view name);

/// The jobs that ran on this machine, as the API would list them, the newest first.
std::vector<nlohmann::json> local_jobs(Session& session);

/// The record of the job `name`. Throws Error(usage) when none is kept.
local::JobRecord find_local_job(Session& session, const std::string& name);

/// The job of a record. Throws Error(environment) when it cannot be read.
nlohmann::json job_of(const local::JobRecord& record);

/// The study of a record as it was asked for, with nothing of what became of it. Throws
/// Error(usage) when the job is none or still runs, and as job_of.
nlohmann::json study_of(const local::JobRecord& record);

/// Asks for the end of the job and waits for it, for some seconds. The job as it is then.
nlohmann::json cancel_local_job(const local::JobRecord& record, const Cancellation* cancellation);

/// Which lines of a log are wanted, and how.
struct LocalLogOptions {
  std::optional<std::string> task{};  ///< one replica's only; none: all
  bool together{false};
};

/// Hands over the log to standard output until the job has ended. The job as it ended.
nlohmann::json stream_local_logs(Session& session,
                                 const local::JobRecord& record,
                                 const LocalLogOptions& options);

}  // namespace autopack::cli
