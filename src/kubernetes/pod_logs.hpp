#pragma once

#include "google/logging.hpp"
#include "kubernetes/api.hpp"
#include "kubernetes/state.hpp"
#include "submit/watch.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace autopack::kubernetes {

/// Splits one reading of a container's log into entries: `TIME TEXT` lines. Entries that `cursor`
/// has seen are dropped: the node ignores the fraction of `sinceTime`, so a second comes again.
class LogLines {
public:
  LogLines(submit::LogCursor& cursor, std::string replica)
      : cursor_{cursor}, replica_{std::move(replica)} {}

  /// Returns the new entries in the next bytes. A very long line becomes several entries.
  std::vector<google::LogEntry> feed(std::string_view bytes);
  /// Returns what the log ends with, if it does not end with a line break.
  std::vector<google::LogEntry> end();

private:
  void take(std::string_view line, std::vector<google::LogEntry>& entries);

  submit::LogCursor& cursor_;
  std::string replica_;
  std::string rest_{};
  /// Counts each line of the latest timestamp: equal lines get different IDs.
  std::optional<google::Timestamp> time_{};
  std::map<std::size_t, int> equal_{};
};

/// Follows the logs of pods, each in a thread of its own; all entries arrive in the thread that
/// calls next(). It also wakes that thread if something else happens.
class PodLogs {
public:
  /// Without `follows`, reads only what exists.
  PodLogs(Api& api, std::string name_space, bool follows)
      : api_{api}, name_space_{std::move(name_space)}, follows_{follows} {}

  ~PodLogs();
  PodLogs(const PodLogs&) = delete;
  PodLogs& operator=(const PodLogs&) = delete;

  /// Follows this log, unless it is known.
  void follow(const ReadableLog& log);
  /// Wakes next() at each change of the objects of a collection.
  void wake_at_changes(const std::string& path, const std::string& query);

  /// Waits until there is an entry, or something has changed, at most `longest`; returns the
  /// entries, by time. Throws what failed in a thread.
  std::vector<google::LogEntry> next(std::chrono::milliseconds longest);
  /// Ends the streams that are still open, after the job has ended; each log is read once more.
  void finish();
  /// Returns true once after a change.
  bool take_change();
  /// Returns true if no log is followed.
  bool is_done();

  /// Returns the number of logs that are not followed, because there are too many.
  std::size_t left_out() const { return left_out_; }

  /// Returns texts about logs that cannot be read, once each.
  std::vector<Problem> take_problems();

private:
  void run(const ReadableLog& log);
  void read(ReadableLog log);
  /// Reads one log until it ends. Returns the status of the answer; 0 if there was none.
  int read_once(const ReadableLog& log, submit::LogCursor& cursor, bool previous, bool is_last);
  void push(std::vector<google::LogEntry> entries);
  void pause(std::chrono::milliseconds time);
  void fail(std::exception_ptr failure);
  void start(std::function<void()> task);

  Api& api_;
  std::string name_space_;
  std::atomic<bool> follows_;
  std::mutex mutex_{};
  std::condition_variable arrived_{};
  std::condition_variable taken_{};
  std::vector<google::LogEntry> entries_{};
  std::vector<Problem> problems_{};
  std::exception_ptr failure_{};
  bool changed_{false};
  int active_{0};
  std::size_t left_out_{0};
  std::set<std::string> known_{};
  std::atomic<bool> stop_{false};
  std::atomic<bool> no_streams_{false};  ///< also true if `stop_` is
  std::vector<std::jthread> threads_{};
};

}  // namespace autopack::kubernetes
