#include "http/retry.hpp"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <random>

namespace autopack::http {

namespace {

using std::chrono::milliseconds;

bool is_transient(const Attempt& attempt) {
  using Reason = TransportError::Reason;
  if (attempt.reason) {
    return *attempt.reason == Reason::connect || *attempt.reason == Reason::reset ||
           *attempt.reason == Reason::timeout || *attempt.reason == Reason::resolve;
  }
  switch (attempt.status.value_or(0)) {
    case 408:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504: return true;
    default: return false;
  }
}

/// Implements RFC 9110 section 10.2.3; returns nothing if `text` is neither seconds nor a date.
std::optional<milliseconds> parse_retry_after(const std::string& text, std::int64_t now) {
  std::int64_t seconds = 0;
  const char* end = text.data() + text.size();
  if (const auto [stop, code] = std::from_chars(text.data(), end, seconds);
      code == std::errc{} && stop == end && seconds >= 0 && seconds < 1'000'000'000) {
    return milliseconds{seconds * 1000};
  }
  std::tm date{};
  if (::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr) {
    return std::nullopt;
  }
  return milliseconds{std::max<std::int64_t>(0, ::timegm(&date) - now) * 1000};
}

}  // namespace

std::optional<milliseconds> retry_delay(const Attempt& attempt,
                                        double random,
                                        std::int64_t now,
                                        const RetryLimits& limits) {
  if (!is_transient(attempt) || attempt.number >= limits.attempts) {
    return std::nullopt;
  }
  milliseconds delay = limits.first;
  for (int i = 1; i < attempt.number && delay < limits.longest; ++i) {
    delay *= 2;
  }
  delay = std::min(delay, limits.longest);
  // Half of the delay is random, so that clients that failed together do not retry together.
  delay = milliseconds{
      static_cast<std::int64_t>(static_cast<double>(delay.count()) * (0.5 + random / 2))};
  if (const auto asked = parse_retry_after(attempt.retry_after, now)) {
    return *asked > limits.patience ? std::nullopt : std::optional{*asked + delay};
  }
  return delay;
}

Response retry(const std::function<Response()>& try_it,
               const std::function<void(milliseconds)>& wait,
               const RetryLimits& limits) {
  std::random_device device;
  const auto pause = [&](const Attempt& attempt) {
    const double random = std::uniform_real_distribution<>{}(device);
    const auto delay = retry_delay(attempt, random, std::time(nullptr), limits);
    if (delay) {
      wait(*delay);
    }
    return delay.has_value();
  };
  for (int number = 1;; ++number) {
    Attempt attempt{.number = number};
    try {
      Response response = try_it();
      attempt.status = response.status;
      attempt.retry_after = response.header("retry-after").value_or("");
      if (response.status < 400 || !pause(attempt)) {
        return response;
      }
    } catch (const TransportError& error) {
      attempt.reason = error.reason();
      if (!pause(attempt)) {
        throw;
      }
    }
  }
}

}  // namespace autopack::http
