#pragma once

#include "google/logging.hpp"

#include <map>
#include <set>
#include <string>

namespace autopack::submit {

/// Knows which log entries were seen, so that each is told once however often and in whatever pages
/// it comes. Entries may arrive late: each reading goes back some time and leaves out what is
/// known.
class LogCursor {
public:
  /// The time from which to ask; the beginning of time at first.
  google::Timestamp since() const;
  /// True when the entry is new.
  bool take(const google::LogEntry& entry);

  /// A reading has ended. When it took many pages, the next goes back less far.
  void read_pages(int pages) { is_busy_ = pages > many_pages; }

private:
  static constexpr int many_pages = 3;

  google::Timestamp newest_{};
  bool is_busy_{false};
  std::map<google::Timestamp, std::set<std::string>> seen_{};
  std::set<std::string> timeless_{};  ///< entries without a time
};

}  // namespace autopack::submit
