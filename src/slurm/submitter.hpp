#pragma once

#include "base/report.hpp"
#include "image/source.hpp"
#include "slurm/connection.hpp"
#include "slurm/script.hpp"
#include "submit/submitter.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::slurm {

/// How jobs are submitted to a cluster with Slurm.
struct SlurmOptions {
  std::shared_ptr<Connection> connection{};
  QueueOptions queue{};
  std::string shared_directory{};  ///< as read_shared_directory returns it
  std::vector<Mount> mounts{};
  std::optional<ContainerKind> container{};  ///< absent: what the cluster has
  /// Opens an image `HOST/REPOSITORY@sha256:...`.
  std::function<image::Source(const std::string& image)> open{};
  /// Submissions are recorded here before they are sent; absent: no record.
  std::optional<std::filesystem::path> records{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  /// Gets the job as soon as it is known to exist.
  std::function<void(const submit::SubmittedJob& job)> created{};
  /// Waits; if empty, the system does.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

std::unique_ptr<submit::Submitter> make_slurm_submitter(SlurmOptions options);

}  // namespace autopack::slurm
