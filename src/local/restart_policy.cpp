#include "local/restart_policy.hpp"

#include "base/contains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace autopack::local {

namespace {

constexpr int most_replica_restarts = 5;
constexpr int most_job_restarts = 3;
constexpr std::chrono::hours usual_timeout{7 * 24};

/// Aborts and segmentation faults, by either number, and signs of a lost machine: killed or
/// terminated from outside.
constexpr std::array passing{6, 134, 11, 139, 137, 143};

/// Parses `7200s` or `1.5s`; returns the default if it is absent.
std::chrono::milliseconds read_timeout(const std::optional<job::Scheduling>& scheduling) {
  const auto text = scheduling ? scheduling->timeout.value_or("") : std::string{};
  const double seconds = std::strtod(text.c_str(), nullptr);
  constexpr double longest = 1e9;
  if (seconds <= 0 || seconds > longest) {
    return usual_timeout;
  }
  return std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)};
}

std::string words_of(const Replica& replica, const Exit& exit) {
  if (exit.ran_out_of_memory) {
    return fmt::format("The replica {} ran out of memory and exited with a non-zero status of {}.",
                       replica.name, exit.status);
  }
  return fmt::format(
      "The replica {} exited with a non-zero status of {}. Termination reason: Error.",
      replica.name, exit.status);
}

}  // namespace

RestartPolicy::RestartPolicy(const std::optional<job::Scheduling>& scheduling)
    : restarts_job_{scheduling && scheduling->restart_on_worker_restart.value_or(false)},
      never_restarts_{scheduling && scheduling->disable_retries.value_or(false)},
      timeout_{read_timeout(scheduling)} {}

bool RestartPolicy::may_restart(const Exit& exit) const {
  return !never_restarts_ && !exit.ran_out_of_memory && contains(passing, exit.status);
}

RestartPolicy::Next RestartPolicy::after(const Replica& replica, const Exit& exit) {
  if (exit.status == 0) {
    return replica.is_primary() ? Next::succeed : Next::go_on;
  }
  message_ = words_of(replica, exit);
  if (!may_restart(exit)) {
    return Next::fail;
  }
  auto& restarts = restarts_[replica.name];
  if (!restarts_job_ && restarts < most_replica_restarts) {
    ++restarts;
    message_ += fmt::format(" It is started again ({} of {}).", restarts, most_replica_restarts);
    return Next::restart_replica;
  }
  if (job_restarts_ < most_job_restarts) {
    ++job_restarts_;
    restarts_.clear();
    message_ +=
        fmt::format(" The job is started again ({} of {}).", job_restarts_, most_job_restarts);
    return Next::restart_job;
  }
  return Next::fail;
}

}  // namespace autopack::local
