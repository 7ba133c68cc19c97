#pragma once

#include "cli/command.hpp"
#include "cli/following.hpp"
#include "submit/cluster_jobs.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace autopack::cli {

/// What `autopack jobs` does with the jobs of a cluster.
struct ClusterAction {
  std::string action{};  ///< `list`, `describe`, `cancel`, `logs`, `stream-logs`, `wait`
  std::optional<std::string> job{};  ///< as typed; absent: the newest
  bool latest{false};                ///< the newest, or the newest of that display name
  std::string state{};               ///< for a list: only jobs in this state; empty: all
  std::size_t limit{0};              ///< for a list: so many at most; 0 = all
  std::optional<std::string> task{};
  bool follows{false};   ///< `logs` follows to the job's end
  bool together{false};  ///< keeps the lines of a log entry together
  std::chrono::milliseconds longest_wait{10'000};
};

/// Does it, and returns the exit status. Throws Error(usage) for a job that does not exist, and for
/// an action that clusters do not have.
int act_on_cluster(Session& session, submit::ClusterJobs& jobs, const ClusterAction& action);

/// Follows the job `name` to its end for `--wait` and `--stream-logs`. Returns the ended job.
nlohmann::json follow_cluster_job(Session& session,
                                  submit::ClusterJobs& jobs,
                                  const std::string& name,
                                  const FollowFlags& flags);

}  // namespace autopack::cli
