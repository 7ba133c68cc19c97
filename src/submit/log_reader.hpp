#pragma once

#include "submit/log_cursor.hpp"
#include "submit/pace.hpp"
#include "submit/trouble.hpp"
#include "submit/watch.hpp"

#include <optional>
#include <string>

namespace autopack::submit {

/// Reads a job's log piece by piece, within the quota, and hands over each entry once.
class LogReader {
public:
  /// `options` must have logs and outlive the reader.
  explicit LogReader(const WatchOptions& options) : options_{options}, trouble_{options.now} {}

  /// Reads what there is now, as far as the quota allows; without a `job_id` there is no log
  /// yet. True when something new came.
  bool read(const std::optional<std::string>& job_id);

  /// Readings in a row, to the last page, that gave nothing new.
  int quiet_readings() const { return quiet_readings_; }

  std::size_t entries() const { return entries_; }

  /// True when the log cannot be read; it was warned of.
  bool has_given_up() const { return has_given_up_; }

private:
  std::optional<google::LogPage> read_page();
  bool take(const google::LogPage& page);
  void fail(const Error& error, const std::optional<std::string>& retry_after);
  void give_up(const Error& error);

  const WatchOptions& options_;
  Trouble trouble_;
  ReadQuota quota_{};
  LogCursor cursor_{};
  google::LogQuery query_{};  ///< of the reading that goes on; all its pages have the same
  std::optional<std::string> next_page_{};
  int pages_{0};      ///< of the reading that goes on; 0 = none does
  bool news_{false};  ///< in the reading that goes on
  int quiet_readings_{0};
  std::size_t entries_{0};
  bool told_unreadable_{false};
  bool has_given_up_{false};
};

}  // namespace autopack::submit
