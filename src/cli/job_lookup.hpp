#pragma once

#include "cli/google_services.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// A job that a command line names, as the service gave it.
struct FoundJob {
  google::JobName name{};
  google::Job job{};
};

/// The value of `--kind`; none when it is empty.
std::optional<google::JobKind> read_kind(const std::string& kind);

/// The job `typed`: a resource name, or an id whose project, region and kind come from the flags;
/// without a kind each collection is asked. Error(usage) for what is no name and for flags that
/// contradict it, Error(remote) when there is no such job.
FoundJob find_job(Session& session,
                  const google::Jobs& jobs,
                  const std::string& typed,
                  std::optional<google::JobKind> kind);

/// Project and region for the jobs commands. Error(usage) when one of them is not set or cannot be
/// a part of a URL.
job::Location require_job_location(const Session& session);

}  // namespace autopack::cli
