#pragma once

#include <chrono>
#include <deque>

namespace autopack::submit {

/// The time between two polls of a job: short at first, because the job may be quick, then growing
/// to `longest` while nothing changes.
class PollInterval {
public:
  explicit PollInterval(std::chrono::milliseconds longest) : longest_{longest} {}

  /// Returns the wait before the next poll; `is_new` if the last one found something new.
  std::chrono::milliseconds next(bool is_new);
  /// Returns the wait while the last log entries of an ended job arrive.
  std::chrono::milliseconds last_entries() const;

private:
  std::chrono::milliseconds longest_;
  std::chrono::milliseconds wait_{0};
};

/// Keeps log readings below the project's quota of 60 a minute, with room for other readers.
class ReadQuota {
public:
  /// Returns true, and counts the reading, if a reading at `now` is within the quota.
  bool admits(std::chrono::milliseconds now);

private:
  std::deque<std::chrono::milliseconds> readings_{};
};

}  // namespace autopack::submit
