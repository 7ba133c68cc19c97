#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace autopack::index {

/// Watches the speed of an answer: a server that sends a few bytes now and then would otherwise
/// keep a download going for years.
class MinimumSpeed {
public:
  using Clock = std::chrono::steady_clock;

  /// `what` is text for the error: "download `a.whl`".
  explicit MinimumSpeed(std::string what, Clock::time_point start = Clock::now())
      : what_{std::move(what)}, start_{start}, last_{start} {}

  /// Counts bytes that arrived. Throws Error(remote) if fewer than 100 a second arrived over the
  /// last minute. A minute without any bytes does not count: this process was stopped.
  void add(std::uint64_t bytes, Clock::time_point now = Clock::now());

private:
  std::string what_;
  Clock::time_point start_;  ///< of this minute
  Clock::time_point last_;   ///< time of the last bytes
  std::uint64_t bytes_{0};   ///< of this minute
};

}  // namespace autopack::index
