#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"
#include "job/candidates.hpp"
#include "job/job.hpp"
#include "submit/submitter.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::submit {

/// A place to try, and the job for it.
struct Place {
  job::Candidate candidate{};
  job::Job job{};
};

/// A place that was tried.
struct Tried {
  job::Candidate candidate{};
  std::optional<std::string> name{};    ///< of its job; absent: the service refused it
  google::Job job{};                    ///< as last seen; may be null
  std::optional<std::string> reason{};  ///< the lack of capacity; absent: it had none
};

struct AttemptsOptions {
  std::vector<Place> places{};  ///< in order; at least one
  /// Of a retry: the attempts before these. Absent: a new group.
  std::optional<std::string> group{};
  std::size_t earlier{0};
  std::map<std::string, std::string> labels{};  ///< of every job
  std::function<std::unique_ptr<Submitter>(const Place& place, Attempt attempt)> submitter{};
  /// Called before the job is created in a place; may be empty. What it throws ends the attempts.
  std::function<void(const Place& place)> prepare{};
  /// Returns the ended job; empty: nothing is awaited, so only a refused create leads to the next.
  std::function<google::Job(const std::string& name)> follow{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
  /// Called with each place, and again when its job has ended.
  std::function<void(const std::vector<Tried>& tried)> changed{};
};

/// The last attempt, and the places that are left.
struct AttemptsEnd {
  SubmittedJob job{};
  google::Job ended{};  ///< null if nothing was awaited
  std::vector<job::Candidate> left{};
};

/// Creates the job in the first place; if that place lacks capacity, in the next one, once each. A
/// job that ended for another reason is the last. If an earlier run was killed while it created a
/// later attempt, continues with that one. Throws Error(remote) with every reason if each create
/// was refused, RegionRefused never, and Interrupted without a further attempt.
AttemptsEnd run_attempts(const AttemptsOptions& options);

}  // namespace autopack::submit
