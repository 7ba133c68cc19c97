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

/// The value of `--kind`; none without one.
std::optional<google::JobKind> read_kind(const std::optional<std::string>& kind);

/// Which job a command line asks for.
struct JobChoice {
  std::optional<std::string> typed{};  ///< a resource name, an id or a display name; none: any
  std::optional<google::JobKind> kind{};
  bool latest{false};  ///< the newest of those that are meant
  bool infers{true};   ///< see require_job_location

  /// The resource name that was typed; none for another word.
  std::optional<google::JobName> full_name() const {
    return typed ? google::JobName::parse(*typed) : std::nullopt;
  }
};

/// The job that is chosen; what a name lacks comes from the flags, and without a kind each
/// collection is asked. Error(usage) for what is no name, for flags that contradict it and for a
/// display name that several jobs have, Error(remote) when there is no such job.
FoundJob find_job(Session& session, const google::Jobs& jobs, const JobChoice& choice);

/// Project and region for the jobs commands, both; with `infers` as find_location has it, which is
/// told. Error(usage) when one of them is not set or cannot be a part of a URL.
job::Location require_job_location(const Session& session, bool infers);

}  // namespace autopack::cli
