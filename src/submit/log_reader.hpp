#pragma once

#include "submit/consecutive_failures.hpp"
#include "submit/log_cursor.hpp"
#include "submit/poll_interval.hpp"
#include "submit/watch.hpp"

#include <optional>
#include <string>

namespace autopack::submit {

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
  int pages_{0};      ///< of the current reading; 0 if there is none
  bool news_{false};  ///< the current reading has new entries
  int quiet_readings_{0};
  std::size_t entries_{0};
  bool told_unreadable_{false};
  bool has_given_up_{false};
};

}  // namespace autopack::submit
