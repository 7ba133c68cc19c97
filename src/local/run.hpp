#pragma once

#include "base/report.hpp"
#include "engine/containers.hpp"
#include "local/cluster.hpp"
#include "local/faults.hpp"
#include "local/life.hpp"
#include "local/usage_watch.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::local {

/// What a cluster tells while it runs. Called by one thread at a time.
class Watcher {
public:
  virtual ~Watcher() = default;
  /// Bytes of one of the two output streams of a replica, cut anywhere.
  virtual void wrote(const Replica& replica, bool is_error, std::string_view bytes) = 0;
  /// What is now with a replica: `running`, `exited with status 1`.
  virtual void changed(const Replica& replica, const std::string& state) = 0;
  /// What a running replica takes of the machine; only where ClusterRun asks for it.
  virtual void used(const Replica& replica, const Usage& usage) = 0;
  /// Something happened to the job, in the service's words.
  virtual void told(const std::string& severity, const std::string& message) = 0;
  /// Every replica runs.
  virtual void running() = 0;
  /// The last moment at which the replicas' containers are there; none runs any more.
  virtual void ending() = 0;
};

/// A cluster that is to be run.
struct ClusterRun {
  engine::Containers* containers{nullptr};
  Cluster cluster{};
  bool has_network{false};                     ///< it is there already, for more than this cluster
  std::vector<engine::ContainerSpec> specs{};  ///< one for each replica
  Life life{std::nullopt};
  std::vector<Fault> faults{};
  const Cancellation* cancellation{nullptr};
  std::function<bool()> is_asked_for_end{};
  /// True when the cluster need not go on, which is then a success. Asked often; may be empty.
  std::function<bool()> has_done_enough{};
  Watcher* watcher{nullptr};
  bool watches_usage{false};  ///< the watcher is told what replicas take
};

/// How it ended.
struct Ending {
  std::string state{};  ///< `JOB_STATE_SUCCEEDED`, ...
  int status{0};        ///< exit status of the replica that decided it; 1 where none did
  int code{0};          ///< google.rpc.Code of the failure
  std::optional<std::string> message{};  ///< of the failure
};

/// Runs it to its end and removes all that it made, whatever happens. An interruption ends it as a
/// cancelled job. Throws what the engine refuses.
Ending run_cluster(const ClusterRun& run);

}  // namespace autopack::local
