#include "submit/poll_interval.hpp"

#include <algorithm>

namespace autopack::submit {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds shortest = 250ms;
constexpr milliseconds after_new = 2s;
constexpr std::size_t most_readings = 50;

}  // namespace

milliseconds PollInterval::next(bool is_new) {
  const auto grown = wait_ == 0ms ? shortest : wait_ * 2;
  wait_ = std::min({grown, longest_, is_new ? std::max(after_new, shortest) : longest_});
  return wait_;
}

milliseconds PollInterval::last_entries() const {
  return std::min(longest_, after_new);
}

bool ReadQuota::admits(milliseconds now) {
  while (!readings_.empty() && now - readings_.front() >= 1min) {
    readings_.pop_front();
  }
  if (readings_.size() >= most_readings) {
    return false;
  }
  readings_.push_back(now);
  return true;
}

}  // namespace autopack::submit
