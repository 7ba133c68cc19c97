#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"
#include "google/logging.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace autopack::submit {

/// Which logs of a job are read.
struct LogOptions {
  std::optional<std::string> endpoint_override{};  ///< CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING
  std::optional<std::string> task{};               ///< one replica's only; none: all
  /// Logs that cannot be read end the watch; otherwise they are warned of, and it goes on.
  bool required{false};
};

struct WatchOptions {
  const google::Jobs* jobs{nullptr};
  google::JobName name{};
  std::optional<LogOptions> logs{};
  std::chrono::milliseconds longest_wait{10'000};  ///< between two looks
  bool follows{true};  ///< false: until the log has been read as it is, also of a job that goes on
  Reporter* reporter{nullptr};
  /// Told the job each time its state is another.
  std::function<void(const google::Job& job)> changed{};
  /// Told each new entry, once.
  std::function<void(const google::LogEntry& entry)> logged{};
  /// A clock that never goes back; the system's when empty.
  std::function<std::chrono::milliseconds()> now{};
  /// Seconds since the epoch; the system's clock when empty.
  std::function<std::int64_t()> date{};
};

/// Looks at a job until it has ended and its last log entries have come, or without `follows` until
/// those have that there are; the job as it was last.
/// Trouble of network and services is waited out for half an hour. Error(interrupted) and all
/// others tell how to go on.
google::Job watch(WatchOptions options);

}  // namespace autopack::submit
