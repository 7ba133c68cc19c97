#pragma once

#include "base/report.hpp"
#include "engine/docker.hpp"
#include "local/desk.hpp"
#include "local/faults.hpp"
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

/// How jobs run on this machine.
struct LocalOptions {
  std::function<engine::Docker&()> docker{};  ///< made when first needed
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  Desk desk{};
  std::size_t most_replicas{0};  ///< of a job; 0 = all
  std::vector<Fault> faults{};
  std::filesystem::path records{};     ///< directory in which jobs are kept
  std::optional<JobRecord> resumed{};  ///< the study that goes on; none for a new job
  Screen screen{};
  /// Told the job's name once it has one, before it runs.
  std::function<void(const std::string& name)> started{};
};

/// Runs the job's pools on the engine as Vertex AI would, and waits.
std::unique_ptr<submit::Submitter> make_local_submitter(LocalOptions options);

}  // namespace autopack::local
