#include "submit/log_cursor.hpp"

namespace autopack::submit {

namespace {

constexpr std::int64_t usual_lateness = 30;  // seconds
constexpr std::int64_t least_lateness = 5;   // the same allowance as gcloud
constexpr std::int64_t memory = 2 * usual_lateness;
// Without a lower bound Cloud Logging searches only the last day.
constexpr google::Timestamp beginning{.seconds = 3600};

}  // namespace

google::Timestamp LogCursor::since() const {
  const auto back = is_busy_ ? least_lateness : usual_lateness;
  return newest_.seconds <= beginning.seconds + back
             ? beginning
             : google::Timestamp{.seconds = newest_.seconds - back,
                                 .nanoseconds = newest_.nanoseconds};
}

bool LogCursor::take(const google::LogEntry& entry) {
  if (!entry.time) {
    return timeless_.insert(entry.insert_id).second;
  }
  const auto time = *entry.time;
  if (time.seconds < newest_.seconds - memory) {
    return false;
  }
  if (!seen_[time].insert(entry.insert_id).second) {
    return false;
  }
  newest_ = std::max(newest_, time);
  seen_.erase(seen_.begin(), seen_.lower_bound({.seconds = newest_.seconds - memory}));
  return true;
}

}  // namespace autopack::submit
