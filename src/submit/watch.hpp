#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"
#include "google/logging.hpp"
#include "submit/consecutive_failures.hpp"
#include "submit/poll_interval.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace autopack::submit {

/// Selects the logs of a job.
struct LogOptions {
  std::optional<std::string> endpoint_override{};  ///< CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING
  std::optional<std::string> task{};               ///< only this replica's; absent: all
  /// Unreadable logs end the watch; otherwise they cause a warning.
  bool required{false};
};

struct WatchOptions {
  const google::Jobs* jobs{nullptr};
  google::JobName name{};
  std::optional<LogOptions> logs{};
  std::chrono::milliseconds longest_wait{10'000};  ///< between two polls
  bool follows{true};  ///< false: only reads the existing log, even if the job is still running
  Reporter* reporter{nullptr};
  /// Called with the job each time its state changes.
  std::function<void(const google::Job& job)> changed{};
  /// Called once with each new entry.
  std::function<void(const google::LogEntry& entry)> logged{};
  /// A monotonic clock; if empty, the system's.
  std::function<std::chrono::milliseconds()> now{};
  /// Seconds since the epoch; if empty, the system's clock.
  std::function<std::int64_t()> date{};
};

/// Polls a job until it has ended and its last log entries have arrived; without `follows`, until
/// the existing entries are read. Returns the last state of the job. Retries network and service
/// failures for half an hour. All errors, including Interrupted, have hints how to continue.
google::Job watch(WatchOptions options);

/// Remembers which log entries were seen, so that each is printed once, however often and in
/// whatever pages it arrives. Entries may arrive late: each reading goes back some time and skips
/// known ones.
class LogCursor {
public:
  /// Returns the start time of the next reading; at first the beginning of time.
  google::Timestamp since() const;
  /// Returns true if the entry is new.
  bool take(const google::LogEntry& entry);

  /// Records the end of a reading. If it took many pages, the next one goes back less far.
  void read_pages(int pages) { is_busy_ = pages > many_pages; }

private:
  static constexpr int many_pages = 3;

  google::Timestamp newest_{};
  bool is_busy_{false};
  std::map<google::Timestamp, std::set<std::string>> seen_{};
  std::set<std::string> timeless_{};  ///< entries without a time
};

/// Reads a job's log page by page, within the quota, and reports each entry once.
class LogReader {
public:
  /// `options` must have logs and outlive the reader.
  explicit LogReader(const WatchOptions& options) : options_{options}, failures_{options.now} {}

  /// Reads the available entries, as far as the quota allows; without a `job_id` there is no log
  /// yet. Returns true if there was a new entry.
  bool read(const std::optional<std::string>& job_id);

  /// Returns the number of consecutive complete readings without a new entry.
  int quiet_readings() const { return quiet_readings_; }

  std::size_t entries() const { return entries_; }

  /// Returns true if the log is unreadable; a warning was printed.
  bool has_given_up() const { return has_given_up_; }

private:
  std::optional<google::LogPage> read_page();
  bool take(const google::LogPage& page);
  void fail(const Error& error, const std::optional<std::string>& retry_after);
  void give_up(const Error& error);

  const WatchOptions& options_;
  ConsecutiveFailures failures_;
  ReadQuota quota_{};
  LogCursor cursor_{};
  google::LogQuery query_{};  ///< of the current reading; the same for all its pages
  std::optional<std::string> next_page_{};
  int pages_{0};             ///< of the current reading; 0 if there is none
  bool has_entries_{false};  ///< the current reading has new entries
  int quiet_readings_{0};
  std::size_t entries_{0};
  bool reported_unreadable_{false};
  bool has_given_up_{false};
};

}  // namespace autopack::submit
