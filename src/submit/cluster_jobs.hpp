#pragma once

#include "google/logging.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autopack::submit {

/// How a job of a cluster is followed.
struct ClusterWatch {
  std::string name{};
  bool with_logs{false};
  bool follows{true};  ///< false: only reads the existing log, even if the job is still running
  std::optional<std::string> task{};               ///< only this replica's log; absent: all
  std::chrono::milliseconds longest_wait{10'000};  ///< between two polls
  /// Called with the job each time its state or detail changes. May be empty.
  std::function<void(const nlohmann::json& job)> changed{};
  /// Called once with each new entry. May be empty.
  std::function<void(const google::LogEntry& entry)> logged{};
};

/// The jobs of a cluster other than Vertex AI. A job is JSON in the form of Vertex AI's API: `name`
/// (`kubernetes/CONTEXT/NAMESPACE/NAME`, `slurm/LOGIN/ID`), `displayName`, `state`, `createTime`,
/// `startTime`, `endTime`, `error`, `labels`; and `detail`, a line with the cluster's own reason.
class ClusterJobs {
public:
  virtual ~ClusterJobs() = default;
  /// Returns the jobs that autopack submitted, newest first.
  virtual std::vector<nlohmann::json> list() = 0;
  /// `name` is a whole name, an ID or a display name. Returns null if there is no such job. Throws
  /// Error(usage) if several have the display name.
  virtual nlohmann::json get(const std::string& name) = 0;
  /// Requests the end of the job with the whole name `name`; not an error if it has ended.
  virtual void cancel(const std::string& name) = 0;
  /// Follows the job to its end, or until the existing log is read. Returns its last state. All
  /// errors, including Interrupted, have hints how to continue.
  virtual nlohmann::json watch(const ClusterWatch& watch) = 0;
};

}  // namespace autopack::submit
