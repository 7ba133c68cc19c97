#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/following.hpp"
#include "cli/job_lookup.hpp"
#include "cli/job_text.hpp"
#include "cli/log_text.hpp"
#include "google/fields.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

using nlohmann::json;

constexpr std::int64_t largest_page = 1000;

class JobsCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Which jobs");
    flags.text("--kind", "custom|tuning|pipeline", kind_, "only these; default: all three kinds");
    flags.section("list");
    flags.text("--filter", "EXPRESSION", filter_,
               "the service's own: state=, display_name:\"a*\", labels.k=v");
    flags.text("--state", "STATE", state_, "running, failed, ...: of every kind");
    flags.number("--limit", "NUMBER", limit_, "so many jobs at most");
    flags.number("--page-size", "NUMBER", page_size_, "jobs per request; default: 100");
    flags.section("stream-logs");
    flags.text("--task-name", "REPLICA", task_, "only this replica's: workerpool0-0");
    flags.number("--polling-interval", "SECONDS", polling_interval_,
                 "longest time between two looks; default: 10");
    flags.toggle("--allow-multiline-logs", together_, "keep the lines of an entry together");
  }

  int run(Session& session) override {
    if (session.arguments.empty()) {
      throw Error(ErrorKind::usage, "`autopack jobs` needs to know what to do")
          .hint("it has `list`, `describe NAME`, `cancel NAME` and `stream-logs NAME`");
    }
    const auto& action = session.arguments.front();
    check_flags(session, action);
    GoogleServices google{session};
    if (action == "list") {
      return list(session, google);
    }
    if (session.arguments.size() < 2 || session.arguments[1].empty()) {
      throw Error(ErrorKind::usage, fmt::format("`autopack jobs {}` needs the job's name", action))
          .hint("see the jobs: autopack jobs list");
    }
    const auto wait = longest_wait(polling_interval_);
    const auto jobs = google.jobs();
    const auto found = find_job(session, jobs, session.arguments[1], read_kind(kind_));
    if (action == "describe") {
      return describe(session, *found.job);
    }
    return action == "cancel" ? cancel(session, jobs, found) : stream(session, google, found, wait);
  }

private:
  static void check_flags(const Session& session, const std::string& action) {
    static const std::vector<std::pair<std::string, std::vector<std::string>>> own{
        {"list", {"--filter", "--state", "--limit", "--page-size"}},
        {"stream-logs", {"--task-name", "--polling-interval", "--allow-multiline-logs"}}};
    for (const auto& [owner, flags] : own) {
      for (const auto& flag : flags) {
        if (owner != action && session.flags.is_typed(flag)) {
          throw Error(ErrorKind::usage, fmt::format("`{}` is for `autopack jobs {}`, not for `{}`",
                                                    flag, owner, action));
        }
      }
    }
    if (action == "list" && session.arguments.size() > 1) {
      throw Error(ErrorKind::usage,
                  fmt::format("unexpected argument `{}`", printable(session.arguments[1])))
          .hint("`--filter` chooses jobs; `autopack jobs describe NAME` shows one");
    }
  }

  /// The state's name is another for pipelines, also inside of a filter that is for all kinds.
  std::string filter_for(google::JobKind kind) const {
    const bool pipeline = kind == google::JobKind::pipeline;
    std::string filter = pipeline ? replace_all(filter_, "JOB_STATE_", "PIPELINE_STATE_")
                                  : replace_all(filter_, "PIPELINE_STATE_", "JOB_STATE_");
    if (state_.empty()) {
      return filter;
    }
    const auto of_state = fmt::format("state=\"{}{}\"", pipeline ? "PIPELINE_STATE_" : "JOB_STATE_",
                                      to_upper(state_));
    return filter.empty() ? of_state : fmt::format("({}) AND {}", filter, of_state);
  }

  void check_list_values() const {
    if (limit_ && *limit_ < 1) {
      throw Error(ErrorKind::usage, fmt::format("`--limit` is {}, but must be 1 or more", *limit_));
    }
    if (page_size_ && (*page_size_ < 1 || *page_size_ > largest_page)) {
      throw Error(ErrorKind::usage, fmt::format("`--page-size` is {}, but must be 1 to {}",
                                                *page_size_, largest_page));
    }
    const auto is_word = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (!std::all_of(state_.begin(), state_.end(), is_word)) {
      throw Error(ErrorKind::usage, fmt::format("`{}` of `--state` is no state", printable(state_)))
          .hint(
              "states are queued, pending, running, succeeded, failed, cancelling, cancelled, "
              "paused, expired");
    }
  }

  std::vector<json> read_list(const job::Location& location, const google::Jobs& service) const {
    const auto limit = static_cast<std::size_t>(limit_.value_or(0));
    std::vector<json> jobs;
    for (const auto kind : google::job_kinds) {
      if (read_kind(kind_).value_or(kind) != kind) {
        continue;
      }
      std::size_t count = 0;
      service.list({.project = location.project,
                    .region = location.region,
                    .kind = kind,
                    .filter = filter_for(kind),
                    .page_size = static_cast<int>(page_size_.value_or(100))},
                   [&](const google::Job& job) {
                     jobs.push_back(*job);
                     return limit == 0 || ++count < limit;
                   });
    }
    std::stable_sort(jobs.begin(), jobs.end(), [](const json& a, const json& b) {
      return google::text_at(a, "createTime") > google::text_at(b, "createTime");
    });
    if (limit != 0 && jobs.size() > limit) {
      jobs.resize(limit);
    }
    return jobs;
  }

  int list(Session& session, GoogleServices& google) const {
    check_list_values();
    const auto location = require_job_location(session);
    const auto jobs = read_list(location, google.jobs());
    if (session.format.kind == OutputFormat::Kind::value) {
      std::string text;
      for (const auto& job : jobs) {
        text += render(session.format, job, {});
      }
      session.console.result(text);
      return 0;
    }
    if (jobs.empty()) {
      session.console.done("Found", fmt::format("no job in region `{}` of project `{}`",
                                                location.region, location.project));
    }
    tell_result(session, json(jobs), job_table(jobs));
    return 0;
  }

  static int describe(Session& session, const json& job) {
    tell_result(session, job, job_details(job));
    const auto failure = submit::failure_of(job);
    if (failure && submit::state_of(job).ended && !failure->causes().empty()) {
      session.console.warn({.severity = Problem::Severity::warning,
                            .message = failure->message() + ": " + failure->causes().back(),
                            .hints = {failure->hints().front()}});
    }
    return 0;
  }

  static int cancel(Session& session, const google::Jobs& jobs, const FoundJob& found) {
    auto job = found.job;
    const bool had_ended = submit::state_of(*job).ended;
    if (!had_ended) {
      jobs.cancel(found.name);
      const auto now = jobs.get(found.name);
      job = now ? now : job;
    }
    const auto name = found.name.text();
    const auto word = submit::state_of(*job).word;
    session.console.done(had_ended ? "Ended" : "Cancelling",
                         had_ended ? fmt::format("{} before: it is {}", name, word)
                                   : fmt::format("{}: it is {}", name, word));
    session.console.result(render(session.format, *job, name));
    return 0;
  }

  int stream(Session& session,
             GoogleServices& google,
             const FoundJob& found,
             std::chrono::milliseconds wait) const {
    const auto jobs = google.jobs();
    LogText text{session.format, session.console.output_paint(), together_};
    const auto ended =
        submit::watch({.jobs = &jobs,
                       .name = found.name,
                       .logs = submit::LogOptions{.endpoint_override = google.logging_override(),
                                                  .task = task_,
                                                  .required = true},
                       .longest_wait = wait,
                       .reporter = &session.console,
                       .changed = tell_states(session.console),
                       .logged = [&](const google::LogEntry& entry) {
                         session.console.program_output(text.render(entry));
                       }});
    throw_unless_succeeded(ended);
    return 0;
  }

  std::string kind_;
  std::string filter_;
  std::string state_;
  std::optional<std::int64_t> limit_;
  std::optional<std::int64_t> page_size_;
  std::string task_;
  std::optional<std::int64_t> polling_interval_;
  bool together_{false};
};

}  // namespace

std::unique_ptr<Command> make_jobs_command() {
  return std::make_unique<JobsCommand>();
}

}  // namespace autopack::cli
