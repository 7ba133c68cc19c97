#pragma once

#include "cli/google_services.hpp"
#include "submit/watch.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace autopack::cli {

/// `--wait` and its siblings, for commands that create jobs.
struct FollowFlags {
  bool wait{false};
  bool stream_logs{false};
  std::optional<std::int64_t> polling_interval{};  ///< seconds

  bool any() const { return wait || stream_logs; }
};

void add_follow_flags(FlagSet& flags, FollowFlags& into);
/// Adds `--polling-interval`, which belongs to them but is rarely needed.
void add_polling_flag(FlagSet& flags, FollowFlags& into);

/// Returns the maximum time between two polls. Throws Error(usage) unless it is 1 to 3600 seconds.
std::chrono::milliseconds longest_wait(const std::optional<std::int64_t>& polling_interval);

/// Follows the job `name` to its end: with a status line on a terminal, else a line for each state,
/// and, if requested, its log on standard error. Returns the ended job. Throws as submit::watch
/// does.
google::Job follow(Session& session,
                   GoogleServices& google,
                   const std::string& name,
                   const FollowFlags& flags);

/// Throws submit::failure_of of an ended job.
void throw_unless_succeeded(const google::Job& job);

/// Returns a callback for submit::WatchOptions::changed that reports a job's states: on a terminal
/// as one redrawn line with the elapsed time.
std::function<void(const google::Job& job)> report_states(Console& console);

}  // namespace autopack::cli
