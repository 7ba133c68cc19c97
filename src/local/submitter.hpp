#pragma once

#include "base/report.hpp"
#include "engine/docker.hpp"
#include "local/faults.hpp"
#include "local/host_resources.hpp"
#include "local/job_watcher.hpp"
#include "local/records.hpp"
#include "submit/submitter.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// The options of local jobs.
struct LocalOptions {
  std::function<engine::Docker&()> docker{};  ///< called on first use
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  HostResources host{};
  std::size_t most_replicas{0};  ///< limit for a job; 0 = all
  std::vector<Fault> faults{};
  std::filesystem::path records{};     ///< the study to continue; absent for a new job
  std::optional<JobRecord> resumed{};  ///< the study to continue; absent for a new job
  Screen screen{};
  /// Gets the job's name once it has one, before it runs.
  std::function<void(const std::string& name)> started{};
};

/// Runs the job's pools on the engine as Vertex AI would, and waits.
std::unique_ptr<submit::Submitter> make_local_submitter(LocalOptions options);

}  // namespace autopack::local
