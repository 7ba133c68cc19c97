#pragma once

#include "cli/command.hpp"
#include "submit/cluster_jobs.hpp"
#include "submit/submitter.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// How a command submits to a cluster.
struct ClusterSubmission {
  /// Gets the job as soon as it is known to exist, even if submit() then fails.
  std::function<void(const submit::SubmittedJob& job)> created{};
};

/// The flags of a submitter other than Vertex AI and this machine, and what they make. There is one
/// file for each.
class ClusterOptions {
public:
  virtual ~ClusterOptions() = default;
  /// Returns the word of `--submitter`, which is also the first part of a job's name.
  virtual std::string_view submitter() const = 0;
  /// Returns the flags that only this submitter has: `--partition`.
  virtual std::vector<std::string_view> own_flags() const = 0;
  /// Adds the flags of `submit` and `tune`.
  virtual void add_submit_flags(FlagSet& flags) = 0;
  /// Adds the flags of `jobs`: those for the place of the jobs.
  virtual void add_jobs_flags(FlagSet& flags) = 0;
  /// Throws Error(usage) for unreadable flags and settings.
  virtual std::unique_ptr<submit::Submitter> make_submitter(Session& session,
                                                            ClusterSubmission submission) = 0;
  /// Returns the jobs of the cluster that `job` names, or the flags. Throws Error(usage) as above.
  virtual std::unique_ptr<submit::ClusterJobs> make_jobs(Session& session,
                                                         const std::optional<std::string>& job) = 0;
};

std::unique_ptr<ClusterOptions> make_kubernetes_options();
std::unique_ptr<ClusterOptions> make_slurm_options();

/// Returns one of each.
std::vector<std::unique_ptr<ClusterOptions>> cluster_options();

/// Returns the one whose submitter is `word`; null if there is none.
ClusterOptions* find_cluster(const std::vector<std::unique_ptr<ClusterOptions>>& all,
                             std::string_view word);

/// Returns `vertex|local|kubernetes|slurm`, the label of `--submitter`.
std::string submitter_words(const std::vector<std::unique_ptr<ClusterOptions>>& all);

/// Throws Error(usage) if a flag of another submitter than `submitter` was typed.
void refuse_other_clusters(const std::vector<std::unique_ptr<ClusterOptions>>& all,
                           std::string_view submitter,
                           const FlagSet& typed);

}  // namespace autopack::cli
