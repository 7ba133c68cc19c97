#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"
#include "google/logging.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace autopack::submit {

/// Selects the logs of a job.
struct LogOptions {
  std::optional<std::string> endpoint_override{};  ///< CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING
  std::optional<std::string> task{};               ///< only this replica's; absent: all
  /// Unreadable logs end the watch; otherwise they cause a warning.
  bool required{false};
};

struct WatchOptions {
  const google::Jobs* jobs{nullptr};
  google::JobName name{};
  std::optional<LogOptions> logs{};
  std::chrono::milliseconds longest_wait{10'000};  ///< between two polls
  bool follows{true};  ///< false: only reads the existing log, even if the job is still running
  Reporter* reporter{nullptr};
  /// Called with the job each time its state changes.
  std::function<void(const google::Job& job)> changed{};
  /// Called once with each new entry.
  std::function<void(const google::LogEntry& entry)> logged{};
  /// A monotonic clock; if empty, the system's.
  std::function<std::chrono::milliseconds()> now{};
  /// Seconds since the epoch; if empty, the system's clock.
  std::function<std::int64_t()> date{};
};

/// Polls a job until it has ended and its last log entries have arrived; without `follows`, until
/// the existing entries are read. Returns the last state of the job. Retries network and service
/// failures for half an hour. All errors, including Interrupted, have hints how to continue.
google::Job watch(WatchOptions options);

}  // namespace autopack::submit
