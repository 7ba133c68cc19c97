#pragma once

#include "base/report.hpp"
#include "engine/containers.hpp"
#include "job/job.hpp"
#include "local/cluster.hpp"
#include "local/faults.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace autopack::local {

/// The current resource usage of a replica.
struct Usage {
  std::uint64_t memory{0};  ///< bytes
  double processors{0};     ///< average since the last sample
};

/// Samples the usage of running containers periodically, on its own thread, until destroyed.
class UsageWatch {
public:
  using Reported = std::function<void(const Replica& replica, const Usage& usage)>;

  /// All arguments must outlive it. A replica is reported from its second sample on.
  UsageWatch(engine::Containers& containers,
             const std::vector<Replica>& replicas,
             std::chrono::milliseconds period,
             Reported reported);

private:
  struct Look {
    std::chrono::steady_clock::time_point at{};
    std::chrono::nanoseconds processor_time{};
  };

  void watch(const std::stop_token& stop);
  void look_at(const Replica& replica);

  engine::Containers& containers_;
  const std::vector<Replica>& replicas_;
  std::chrono::milliseconds period_;
  Reported reported_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::map<std::string, Look> looks_{};
  std::jthread thread_{};  // last: it uses all the others
};

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

/// Receives the events of a running cluster. Called by one thread at a time.
class Watcher {
public:
  virtual ~Watcher() = default;
  /// Bytes of one of the two output streams of a replica, cut anywhere.
  virtual void wrote(const Replica& replica, bool is_error, std::string_view bytes) = 0;
  /// The new state of a replica: `running`, `exited with status 1`.
  virtual void changed(const Replica& replica, const std::string& state) = 0;
  /// The resource usage of a running replica; only if ClusterRun enables it.
  virtual void used(const Replica& replica, const Usage& usage) = 0;
  /// A message about the job, in the service's wording.
  virtual void reported(const std::string& severity, const std::string& message) = 0;
  /// Every replica is running.
  virtual void running() = 0;
  /// All replicas have stopped; their containers are about to be removed.
  virtual void ending() = 0;
};

/// A cluster to run.
struct ClusterRun {
  engine::Containers* containers{nullptr};
  Cluster cluster{};
  bool has_network{false};                     ///< the network already exists and is shared
  std::vector<engine::ContainerSpec> specs{};  ///< one for each replica
  RestartPolicy restart_policy{std::nullopt};
  std::vector<Fault> faults{};
  const Cancellation* cancellation{nullptr};
  std::function<bool()> is_asked_for_end{};
  /// Returns true if the cluster may stop early, which counts as success. Called often; may be
  /// empty.
  std::function<bool()> has_done_enough{};
  /// Called if the job is cancelled: replicas get SIGTERM, and are killed after `grace`. May be
  /// empty.
  std::function<void(std::chrono::seconds grace)> cancelling{};
  Watcher* watcher{nullptr};
  bool watches_usage{false};  ///< the watcher gets the usage of replicas
};

/// The end of a run.
struct Ending {
  std::string state{};  ///< `JOB_STATE_SUCCEEDED`, ...
  int status{0};        ///< exit status of the replica that decided it; 1 if none did
  int code{0};          ///< google.rpc.Code of the failure
  std::optional<std::string> message{};  ///< of the failure
};

/// Runs the cluster to its end, and always removes everything that it created. An interruption ends
/// it as a cancelled job. Throws the engine's errors.
Ending run_cluster(const ClusterRun& run);

}  // namespace autopack::local
