#pragma once

#include "job/job.hpp"
#include "local/cluster.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace autopack::local {

/// How a replica ended.
struct Exit {
  int status{0};
  bool ran_out_of_memory{false};
};

/// What happens to a job when its replicas end, as on Vertex AI (understanding-training-service):
/// it ends with its primary; a replica that a signal ended is started again up to 5 times, then the
/// whole job up to 3 times; any other failure is taken for the program's own and ends the job.
class Life {
public:
  enum class Next { go_on, restart_replica, restart_job, succeed, fail };

  explicit Life(const std::optional<job::Scheduling>& scheduling);

  /// What follows from the end of `replica`.
  Next after(const Replica& replica, const Exit& exit);

  /// Why the job failed, in the service's words, or why something was started again.
  const std::string& message() const { return message_; }

  /// None: as on Vertex AI, seven days.
  std::chrono::milliseconds timeout() const { return timeout_; }

private:
  bool may_restart(const Exit& exit) const;

  bool restarts_job_{false};
  bool never_restarts_{false};
  std::chrono::milliseconds timeout_;
  std::map<std::string, int> restarts_{};  ///< of replicas, since the job was started last
  int job_restarts_{0};
  std::string message_{};
};

}  // namespace autopack::local
