#pragma once

#include "base/report.hpp"
#include "engine/containers.hpp"
#include "local/cluster.hpp"
#include "local/faults.hpp"
#include "local/restart_policy.hpp"
#include "local/usage_watch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::local {

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
  virtual void told(const std::string& severity, const std::string& message) = 0;
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
