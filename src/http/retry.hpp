#pragma once

#include "http/client.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace autopack::http {

/// The result of a try: a status, or no answer.
struct Attempt {
  int number{1};  ///< tries so far, including this one
  std::optional<int> status{};
  std::optional<TransportError::Reason> reason{};
  std::string retry_after{};  ///< text of the header: seconds or a date
};

struct RetryLimits {
  int attempts{5};
  std::chrono::milliseconds first{250};
  std::chrono::milliseconds longest{8'000};     ///< between two tries, without a Retry-After
  std::chrono::milliseconds patience{120'000};  ///< a longer Retry-After ends the tries
};

/// Returns the time to wait before the next try, or nothing if another try cannot help. Pure:
/// `random` is in [0, 1), `now` in seconds since the epoch.
std::optional<std::chrono::milliseconds> retry_delay(const Attempt& attempt,
                                                     double random,
                                                     std::int64_t now,
                                                     const RetryLimits& limits = {});

/// Calls `try_it` as often as retry_delay allows, and returns the last answer, whatever its status.
/// Throws what the last try throws. `wait` waits; the jitter is random.
Response retry(const std::function<Response()>& try_it,
               const std::function<void(std::chrono::milliseconds)>& wait,
               const RetryLimits& limits = {});

}  // namespace autopack::http
