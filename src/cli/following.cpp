#include "cli/following.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/log_text.hpp"
#include "cli/steps.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

namespace autopack::cli {

namespace {

constexpr std::int64_t usual_interval = 10;
constexpr std::int64_t longest_interval = 3600;

std::string capitalised(std::string word) {
  if (!word.empty() && word.front() >= 'a' && word.front() <= 'z') {
    word.front() = static_cast<char>(word.front() - 'a' + 'A');
  }
  return replace_all(word, "_", " ");
}

}  // namespace

void add_follow_flags(FlagSet& flags, FollowFlags& into) {
  flags.toggle("--wait", into.wait, "wait for its end; status 0 only if it succeeds");
  flags.toggle("--stream-logs", into.stream_logs, "the same, with the job's log");
}

void add_polling_flag(FlagSet& flags, FollowFlags& into) {
  flags.number("--polling-interval", "SECONDS", into.polling_interval,
               "with --wait: longest time between two requests");
}

std::chrono::milliseconds longest_wait(const std::optional<std::int64_t>& polling_interval) {
  const auto seconds = polling_interval.value_or(usual_interval);
  if (seconds < 1 || seconds > longest_interval) {
    throw Error(ErrorKind::usage, fmt::format("`--polling-interval` is {}, but must be 1 to {}",
                                              seconds, longest_interval));
  }
  return std::chrono::seconds{seconds};
}

void throw_unless_succeeded(const google::Job& job) {
  if (const auto failure = submit::failure_of(*job)) {
    throw *failure;
  }
}

std::function<void(const google::Job& job)> report_states(Console& console) {
  const auto begun = Clock::now();
  return [&console, begun, has_waited = false](const google::Job& job) mutable {
    const auto state = submit::state_of(*job);
    const auto name = job->value("name", "");
    if (console.is_live() && !state.ended) {
      has_waited = true;
      // One line for all states: it shows the time since the first.
      const auto id = name.substr(name.rfind('/') + 1);
      console.step({.id = "job", .name = fmt::format("job {} is {}", id, state.word)});
    } else if (console.is_live() && has_waited) {
      console.done(capitalised(state.word),
                   fmt::format("{} after {}", name, elapsed_text(Clock::now() - begun)));
    } else {
      console.done(capitalised(state.word), name);
    }
  };
}

google::Job follow(Session& session,
                   GoogleServices& google,
                   const std::string& name,
                   const FollowFlags& flags) {
  const auto parsed = google::JobName::parse(name);
  if (!parsed) {
    throw Error(ErrorKind::remote,
                fmt::format("the service named the job `{}`, which cannot be followed", name));
  }
  const auto jobs = google.jobs();
  LogText text{{}, session.console.error_paint(), false};
  submit::WatchOptions options{.jobs = &jobs,
                               .name = *parsed,
                               .longest_wait = longest_wait(flags.polling_interval),
                               .reporter = &session.console,
                               .changed = report_states(session.console),
                               .logged = [&](const google::LogEntry& entry) {
                                 session.console.program_errors(text.render(entry));
                               }};
  if (flags.stream_logs) {
    options.logs = submit::LogOptions{.endpoint_override = google.logging_override()};
  }
  return submit::watch(std::move(options));
}

}  // namespace autopack::cli
