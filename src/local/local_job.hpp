#pragma once

#include "engine/containers.hpp"
#include "job/job.hpp"
#include "local/records.hpp"
#include "local/run.hpp"
#include "local/submitter.hpp"

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace autopack::local {

/// A job that runs here: its record, its log, and its engine.
class LocalJob {
public:
  /// Removes leftovers of killed runs, pulls images, and creates or continues the record.
  LocalJob(const job::Job& job, LocalOptions& options);

  const JobRecord& record() const { return record_; }

  LogWriter& log() { return log_; }

  /// Lock this to write to the log.
  std::mutex& writing() { return writing_; }

  engine::Containers& containers() const { return *containers_; }

  /// The job in the API's form.
  const nlohmann::json& resource() const { return *resource_; }

  /// Changes a field of the resource.
  void set(const std::string& key, nlohmann::json value);
  /// Changes the state and saves the resource.
  void enter(std::string_view state);
  /// Sets the final state, and the failure if there is one.
  void end(const Ending& ending);
  /// Returns the replicas of each pool, within the user's limit.
  std::vector<std::size_t> counts() const;
  /// Returns the run of `cluster`.
  ClusterRun run_of(const job::Spec& spec, const Cluster& cluster, Watcher& watcher) const;

private:
  void pull_images() const;
  void report_limits() const;

  const job::Job& job_;
  LocalOptions& options_;
  engine::Containers* containers_{nullptr};
  JobRecord record_;
  LogWriter log_;
  std::mutex writing_;
  mutable std::atomic<bool> is_cancelling_{false};  ///< reported
  std::shared_ptr<nlohmann::json> resource_;
};

}  // namespace autopack::local
