#pragma once

#include "http/client.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace autopack::http {

/// How a try ended: with a status, or without an answer.
struct Attempt {
  int number{1};  ///< tries made so far, this one included
  std::optional<int> status{};
  std::optional<TransportError::Reason> reason{};
  std::string retry_after{};  ///< the header's text: seconds or a date
};

struct RetryLimits {
  int attempts{5};
  std::chrono::milliseconds first{250};
  std::chrono::milliseconds longest{8'000};     ///< between two tries, of our own accord
  std::chrono::milliseconds patience{120'000};  ///< a longer Retry-After is not waited for
};

/// The time to wait before the next try; none when another try is of no use. Pure: `random` is in
/// [0, 1), `now` in seconds since the epoch.
std::optional<std::chrono::milliseconds> retry_delay(const Attempt& attempt,
                                                     double random,
                                                     std::int64_t now,
                                                     const RetryLimits& limits = {});

/// The answer of `try_it`, called again as retry_delay says, whatever its status in the end. Throws
/// what the last try throws. `wait` waits; jitter is drawn here.
Response retry(const std::function<Response()>& try_it,
               const std::function<void(std::chrono::milliseconds)>& wait,
               const RetryLimits& limits = {});

}  // namespace autopack::http
