#include "index/minimum_speed.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

namespace autopack::index {

namespace {

constexpr std::chrono::seconds window{60};
constexpr std::uint64_t fewest_a_second{100};

}  // namespace

void MinimumSpeed::add(std::uint64_t bytes, Clock::time_point now) {
  if (now - last_ > window) {
    start_ = now;
    bytes_ = 0;
  }
  last_ = now;
  bytes_ += bytes;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_);
  if (seconds < window) {
    return;
  }
  if (bytes_ < fewest_a_second * static_cast<std::uint64_t>(seconds.count())) {
    throw Error(ErrorKind::remote, fmt::format("could not {}", what_))
        .cause(
            fmt::format("the server is too slow: {} bytes in {} seconds", bytes_, seconds.count()))
        .hint("run the same command again later, or use another index");
  }
  start_ = now;
  bytes_ = 0;
}

}  // namespace autopack::index
