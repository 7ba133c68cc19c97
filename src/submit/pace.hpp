#pragma once

#include <chrono>
#include <deque>

namespace autopack::submit {

/// How long to wait between two looks at a job: short at first, so that a quick job is not waited
/// for, then growing to `longest` while nothing happens.
class Pace {
public:
  explicit Pace(std::chrono::milliseconds longest) : longest_{longest} {}

  /// The wait before the next look; `news` when the last one showed something new.
  std::chrono::milliseconds next(bool news);
  /// The wait while the last entries of an ended job come in.
  std::chrono::milliseconds last_entries() const;

private:
  std::chrono::milliseconds longest_;
  std::chrono::milliseconds wait_{0};
};

/// Keeps readings of logs below the project's quota of 60 a minute, with room
/// for others.
class ReadQuota {
public:
  /// True when a reading at `now` stays within it; it is counted then.
  bool admits(std::chrono::milliseconds now);

private:
  std::deque<std::chrono::milliseconds> readings_{};
};

}  // namespace autopack::submit
