#pragma once

#include "cli/google_services.hpp"
#include "submit/watch.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace autopack::cli {

/// `--wait` and its siblings, of the commands that create jobs.
struct FollowFlags {
  bool wait{false};
  bool stream_logs{false};
  std::optional<std::int64_t> polling_interval{};  ///< seconds

  bool any() const { return wait || stream_logs; }
};

void add_follow_flags(FlagSet& flags, FollowFlags& into);
/// `--polling-interval`, which belongs to them but is seldom looked for.
void add_polling_flag(FlagSet& flags, FollowFlags& into);

/// Seconds between two looks, at most. Error(usage) unless it is 1 to 3600.
std::chrono::milliseconds longest_wait(const std::optional<std::int64_t>& polling_interval);

/// Follows the job `name`, which the service gave, to its end: a status line on a terminal, else a
/// line for each state; its log, when asked for, on standard error. The job as it ended. Throws as
/// submit::watch does.
google::Job follow(Session& session,
                   GoogleServices& google,
                   const std::string& name,
                   const FollowFlags& flags);

/// Throws what submit::failure_of says of an ended job.
void throw_unless_succeeded(const google::Job& job);

/// A job's states as they are told to people, on a terminal that is drawn over as one line with the
/// time since now; give it to submit::WatchOptions::changed.
std::function<void(const google::Job& job)> tell_states(Console& console);

}  // namespace autopack::cli
