#pragma once

#include "base/error.hpp"
#include "job/config.hpp"
#include "job/flags.hpp"
#include "job/location.hpp"

#include <optional>
#include <string>

namespace autopack::job {

struct CheckOptions {
  bool skip_tables{false};  ///< `--skip-checks`: no tables of service facts
  /// Kubernetes or Slurm runs it, not Vertex AI or this machine: a pool needs no machine type, and
  /// the first one may have several replicas.
  bool on_cluster{false};
  /// `2026-11-20`, to find images after their end of support; absent: not checked.
  std::optional<std::string> today{};
};

/// A job that passed every offline rule.
struct CheckedJob {
  Job job{};
  Problems warnings{};
};

/// Merges flags and file (may be null) pool by pool, where flags override the file key by key, and
/// checks the result. Throws Error(usage) with all findings at once, including the errors in
/// `earlier`, the findings from reading flags and file.
CheckedJob make_job(const JobFlags& flags,
                    const Config* config,
                    const Location& location,
                    const CheckOptions& options,
                    Problems earlier = {});

/// Returns the name that the job has or would have: from the flag, else from the file (may be
/// null), else the default.
std::string display_name(const JobFlags& flags, const Config* config);

/// Returns a machine type for a pool that names none. Without accelerators: n1-standard-4, the
/// default of Google's SDK. With accelerators: the smallest machine in the table that supports
/// them. If no machine does: n1-standard-8, and the rules report the accelerators.
std::string usual_machine(const PoolFlags& pool);

}  // namespace autopack::job
