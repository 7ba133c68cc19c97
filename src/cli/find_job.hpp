#pragma once

#include "cli/command.hpp"
#include "google/jobs.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// A job that a command line names, as the service returned it.
struct FoundJob {
  google::JobName name{};
  google::Job job{};
};

/// Returns the value of `--kind`; nothing without one.
std::optional<google::JobKind> read_kind(const std::optional<std::string>& kind);

/// The selection of a job by a command line.
struct JobChoice {
  std::optional<std::string> typed{};  ///< a resource name, an id or a display name; absent: any
  std::optional<google::JobKind> kind{};
  bool latest{false};  ///< the newest matching one
  bool infers{true};   ///< see require_job_location
  /// several: `--region` lists the regions to try, of which the first has a job without region.
  Regions regions{Regions::one};

  /// Returns the typed resource name; nothing for another word.
  std::optional<google::JobName> full_name() const {
    return typed ? google::JobName::parse(*typed) : std::nullopt;
  }
};

/// Returns project and region for the jobs commands, both set; with `infers` as in find_location,
/// which is reported. Throws Error(usage) if one of them is not set or cannot be a part of a URL.
job::Location require_job_location(const Session& session,
                                   bool infers,
                                   Regions regions = Regions::one);

/// Returns the selected job. Flags provide the missing parts of a name; without a kind, searches
/// each collection. Attempts of one group count as one job, the newest. Throws Error(usage) for an
/// invalid name, for flags that contradict it and for a display name of several jobs; Error(remote)
/// if there is no such job.
FoundJob find_job(Session& session, const google::Jobs& jobs, const JobChoice& choice);

}  // namespace autopack::cli
