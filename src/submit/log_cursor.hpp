#pragma once

#include "google/logging.hpp"

#include <map>
#include <set>
#include <string>

namespace autopack::submit {

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

}  // namespace autopack::submit
