#pragma once

#include "engine/containers.hpp"
#include "job/job.hpp"
#include "local/records.hpp"
#include "local/run.hpp"
#include "local/submitter.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <mutex>
#include <string>

namespace autopack::local {

/// A job that runs here: its record, its log, and the engine that it runs on.
class LocalJob {
public:
  /// Removes first what killed runs left. Images are pulled, and the record is made, or goes on.
  LocalJob(const job::Job& job, LocalOptions& options);

  const JobRecord& record() const { return record_; }

  LogWriter& log() { return log_; }

  /// For whoever writes to the log.
  std::mutex& writing() { return writing_; }

  engine::Containers& containers() const { return *containers_; }

  /// The job as the API would give it.
  const nlohmann::json& resource() const { return *resource_; }

  /// Changes a field of it.
  void set(const std::string& key, nlohmann::json value);
  /// Changes its state, and keeps all of it.
  void enter(std::string_view state);
  /// The same for its last state, with the failure when there is one.
  void end(const Ending& ending);
  /// Replicas of each pool, as few as the user wants.
  std::vector<std::size_t> counts() const;
  /// A run of the clusters that `cluster` names.
  ClusterRun run_of(const job::Spec& spec, const Cluster& cluster, Watcher& watcher) const;

private:
  void pull_images() const;
  void tell_limits() const;

  const job::Job& job_;
  LocalOptions& options_;
  engine::Containers* containers_{nullptr};
  JobRecord record_;
  LogWriter log_;
  std::mutex writing_;
  std::shared_ptr<nlohmann::json> resource_;
};

}  // namespace autopack::local
