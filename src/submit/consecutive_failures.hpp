#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace autopack::submit {

/// Counts consecutive failures of a service, and decides when to try again.
class ConsecutiveFailures {
public:
  explicit ConsecutiveFailures(std::function<std::chrono::milliseconds()> now)
      : now_{std::move(now)} {}

  /// Records a failure; the service may have set the time of the retry. Returns true for the first
  /// in a row.
  bool happened(const std::optional<std::string>& retry_after);
  /// Records a response; returns true if there were failures before.
  bool ended();

  /// Returns true if it is time to try again.
  bool may_retry() const { return now_() >= ask_at_; }

  /// Returns true after half an hour of failures.
  bool lasts_too_long() const;

  int count() const { return count_; }

private:
  std::function<std::chrono::milliseconds()> now_;
  int count_{0};
  std::chrono::milliseconds began_{0};
  std::chrono::milliseconds ask_at_{std::chrono::milliseconds::min()};
};

}  // namespace autopack::submit
