#pragma once

#include "job/job.hpp"
#include "local/cluster.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace autopack::local {

/// The end of a replica.
struct Exit {
  int status{0};
  bool ran_out_of_memory{false};
};

/// Decides what happens to a job when its replicas end, as on Vertex AI
/// (understanding-training-service): the job ends with its primary. A replica that was ended by a
/// signal is restarted up to 5 times, then the whole job up to 3 times. Any other failure is the
/// program's own and ends the job.
class RestartPolicy {
public:
  enum class Next { go_on, restart_replica, restart_job, succeed, fail };

  explicit RestartPolicy(const std::optional<job::Scheduling>& scheduling);

  /// Decides what happens after the end of `replica`.
  Next after(const Replica& replica, const Exit& exit);

  /// Returns why the job failed or something was restarted, in the service's wording.
  const std::string& message() const { return message_; }

  /// Without a value: seven days, as on Vertex AI.
  std::chrono::milliseconds timeout() const { return timeout_; }

private:
  bool may_restart(const Exit& exit) const;

  bool restarts_job_{false};
  bool never_restarts_{false};
  std::chrono::milliseconds timeout_;
  std::map<std::string, int> restarts_{};  ///< by replica, since the job last started
  int job_restarts_{0};
  std::string message_{};
};

}  // namespace autopack::local
