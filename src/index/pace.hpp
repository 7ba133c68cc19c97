#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace autopack::index {

/// Watches how fast an answer arrives: a server that sends a few bytes now and then would keep a
/// download going for years.
class Pace {
public:
  using Clock = std::chrono::steady_clock;

  /// `what` are words for the error: "download `a.whl`".
  explicit Pace(std::string what, Clock::time_point start = Clock::now())
      : what_{std::move(what)}, start_{start}, last_{start} {}

  /// Counts bytes that arrived. Throws Error(remote) if fewer than 100 a second arrived over the
  /// last minute. A minute without any does not count: this process was stopped.
  void add(std::uint64_t bytes, Clock::time_point now = Clock::now());

private:
  std::string what_;
  Clock::time_point start_;  ///< of this minute
  Clock::time_point last_;   ///< when bytes arrived
  std::uint64_t bytes_{0};   ///< of this minute
};

}  // namespace autopack::index
