#pragma once

#include "base/report.hpp"
#include "kubernetes/api.hpp"
#include "kubernetes/objects.hpp"
#include "submit/submitter.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

namespace autopack::kubernetes {

struct KubernetesOptions {
  ObjectOptions object{};
  /// Null without a cluster, so that a dry run needs none; then `no_cluster` is the reason.
  Api* api{nullptr};
  std::optional<Error> no_cluster{};
  /// Returns the same server over a client that the user's interruption does not stop, to find out
  /// whether a job was created.
  std::function<Api&()> uninterrupted{};
  Reporter* reporter{nullptr};
  /// Gets the job as soon as it is known to exist, even if submit() then fails.
  std::function<void(const submit::SubmittedJob& job)> created{};
  /// Submissions are recorded here before they are sent; absent: no record.
  std::optional<std::filesystem::path> records{};
};

/// Creates a Job, JobSet or TrainJob in a cluster, exactly once: its name is chosen here, so that
/// the name shows whether an earlier try created it.
std::unique_ptr<submit::Submitter> make_kubernetes_submitter(KubernetesOptions options);

}  // namespace autopack::kubernetes
