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
  /// `2026-11-20`, for images past their end; none = not checked.
  std::optional<std::string> today{};
};

/// A job that passed every rule that can be checked offline.
struct CheckedJob {
  Job job{};
  Problems warnings{};
};

/// Flags and file (may be null) merged by pool, flags winning key by key, and checked. All findings
/// at once as Error(usage), together with the errors among `earlier`, the findings of reading flags
/// and file.
CheckedJob make_job(const JobFlags& flags,
                    const Config* config,
                    const Location& location,
                    const CheckOptions& options,
                    Problems earlier = {});

/// The name that the job has, or would have: of the flag, else of the file (may be null), else the
/// default.
std::string display_name(const JobFlags& flags, const Config* config);

}  // namespace autopack::job
