#pragma once

#include "cli/command.hpp"
#include "local/records.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// Returns true for `local/...`, the name of a job of this machine.
bool is_local_job(std::string_view name);

/// Returns the jobs that ran on this machine, in the API's form, newest first.
std::vector<nlohmann::json> local_jobs(Session& session);

/// Returns the record of the job `name`. Throws Error(usage) if there is none.
local::JobRecord find_local_job(Session& session, const std::string& name);

/// Returns the record of the job whose ID or display name is `typed`, or without `typed` of any;
/// with `latest` the newest. Throws Error(usage) if there is none, or if several have the name.
local::JobRecord choose_local_job(Session& session,
                                  const std::optional<std::string>& typed,
                                  bool latest);

/// Returns the job of a record. Throws Error(environment) if it cannot be read.
nlohmann::json job_of(const local::JobRecord& record);

/// Returns the study of a record as requested, without its results. Throws Error(usage) if the job
/// has no study or is still running, and as job_of.
nlohmann::json study_of(const local::JobRecord& record);

/// Requests the end of the job and waits for it for some seconds. Returns its state then.
nlohmann::json cancel_local_job(const local::JobRecord& record, const Cancellation* cancellation);

/// Waits until the job has ended, and reports its states. Returns the ended job.
nlohmann::json wait_for_local_job(Session& session, const local::JobRecord& record);

/// Selects lines of a log, and their format.
struct LocalLogOptions {
  std::optional<std::string> task{};  ///< only this replica's; absent: all
  bool together{false};
};

/// Prints the log on standard output until the job has ended. Returns the ended job.
nlohmann::json stream_local_logs(Session& session,
                                 const local::JobRecord& record,
                                 const LocalLogOptions& options);

}  // namespace autopack::cli
