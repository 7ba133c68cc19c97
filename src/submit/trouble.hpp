#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace autopack::submit {

/// A service that does not answer for a while, and when to ask it again.
class Trouble {
public:
  explicit Trouble(std::function<std::chrono::milliseconds()> now) : now_{std::move(now)} {}

  /// One more failure; the service may have said when to come back. True for the first in a row.
  bool happened(const std::optional<std::string>& retry_after);
  /// An answer came: true when there was trouble before.
  bool ended();

  /// True when it is time to ask again.
  bool is_over() const { return now_() >= ask_at_; }

  /// True after half an hour of it.
  bool lasts_too_long() const;

  int failures() const { return failures_; }

private:
  std::function<std::chrono::milliseconds()> now_;
  int failures_{0};
  std::chrono::milliseconds began_{0};
  std::chrono::milliseconds ask_at_{std::chrono::milliseconds::min()};
};

}  // namespace autopack::submit
