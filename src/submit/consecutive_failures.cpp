#include "submit/consecutive_failures.hpp"

#include "http/retry.hpp"

#include <ctime>
#include <limits>

namespace autopack::submit {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds patience = 30min;
constexpr http::RetryLimits limits{
    .attempts = std::numeric_limits<int>::max(), .first = 1s, .longest = 30s, .patience = 600s};

}  // namespace

bool ConsecutiveFailures::happened(const std::optional<std::string>& retry_after) {
  if (count_++ == 0) {
    began_ = now_();
  }
  const auto delay =
      http::retry_delay({.number = count_, .status = 503, .retry_after = retry_after.value_or("")},
                        0.5, std::time(nullptr), limits);
  ask_at_ = now_() + delay.value_or(limits.patience);
  return count_ == 1;
}

bool ConsecutiveFailures::ended() {
  const bool was = count_ > 0;
  count_ = 0;
  return was;
}

bool ConsecutiveFailures::lasts_too_long() const {
  return count_ > 0 && now_() - began_ >= patience;
}

}  // namespace autopack::submit
