#include "base/contains.hpp"
#include "base/environment.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "cli/cluster_actions.hpp"
#include "cli/cluster_options.hpp"
#include "cli/command.hpp"
#include "cli/find_job.hpp"
#include "cli/following.hpp"
#include "cli/google_services.hpp"
#include "cli/job_reports.hpp"
#include "cli/job_text.hpp"
#include "cli/joined_attempts.hpp"
#include "cli/local_jobs.hpp"
#include "cli/log_text.hpp"
#include "cli/retry.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

namespace {

/// Returns the words of the browser command: xdg-open reads BROWSER as `PROGRAM:PROGRAM`, each with
/// its own words and `%s` for the address.
std::vector<std::string> browser_of(const Environment& environment) {
  if (const auto named = environment.get("BROWSER"); named && !named->empty()) {
    std::vector<std::string> words;
    for (auto& word : split(split(*named, ':').front(), ' ')) {
      if (!word.empty()) {
        words.push_back(std::move(word));
      }
    }
    return words;
  }
  const bool has_display = !environment.get("DISPLAY").value_or("").empty() ||
                           !environment.get("WAYLAND_DISPLAY").value_or("").empty();
  return has_display ? std::vector<std::string>{"xdg-open"} : std::vector<std::string>{};
}

/// Opens `address` in the browser named by BROWSER, or on a machine with a display in the one that
/// xdg-open finds, and does not wait for it. Returns false if there is none.
bool open_browser(const std::string& address, const Environment& environment) {
  auto words = browser_of(environment);
  const auto path = environment.get("PATH").value_or("");
  if (words.empty() || !find_program(words.front(), path)) {
    return false;
  }
  bool has_place = false;
  for (auto& word : words) {
    has_place = has_place || word.find("%s") != std::string::npos;
    word = replace_all(word, "%s", address);
  }
  if (!has_place) {
    words.push_back(address);
  }
  // A browser may run as long as its window: the shell detaches it.
  std::vector<std::string> argv{"/bin/sh", "-c", R"("$@" </dev/null >/dev/null 2>&1 &)", "browser"};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_process(argv, "").has_value();
}

using nlohmann::json;

constexpr std::int64_t largest_page = 1000;

class JobsCommand : public Command {
public:
  void add_flags(FlagSet& flags) override {
    flags.section("Which jobs");
    flags.text("--kind", "custom|tuning|pipeline|local", kind_,
               "only these; default: the service's");
    flags.text("--submitter", submitter_words(clusters_), submitter_, "only its jobs");
    flags.toggle("--latest", latest_, "the newest, or the newest of that display name");
    flags.section("list");
    flags.text("--filter", "EXPRESSION", filter_,
               "the service's own: state=, display_name:\"a*\", labels.k=v");
    flags.text("--state", "STATE", state_, "running, failed, ...: of every kind");
    flags.number("--limit", "NUMBER", limit_, "so many jobs at most");
    flags.section("logs, stream-logs");
    flags.toggle("-f,--follow", follow_, "of logs: until the job ends, as stream-logs does");
    flags.text("--task-name", "REPLICA", task_, "only this replica's: workerpool0-0");
    flags.number("--polling-interval", "SECONDS", polling_interval_,
                 "longest time between two requests, also of wait; default: 10");
    flags.toggle("--allow-multiline-logs", together_, "keep the lines of an entry together");
    add_retry_flags(flags, accelerators_, follow_flags_);
    flags.section("More of which jobs", false);
    flags.toggle("--no-infer", no_infer_, "do not use gcloud's `compute/region`");
    flags.number("--page-size", "NUMBER", page_size_, "jobs per request; default: 100");
    for (const auto& cluster : clusters_) {
      cluster->add_jobs_flags(flags);
    }
  }

  int run(Session& session) override {
    if (session.arguments.empty()) {
      throw Error(ErrorKind::usage, "`autopack jobs` needs to know what to do")
          .hint(
              "it has `list`, `describe NAME`, `cancel NAME`, `logs NAME`, `wait NAME`, "
              "`open NAME` and `retry NAME`");
    }
    const auto& action = session.arguments.front();
    check_flags(session, action);
    if (auto* const cluster = cluster_of(session)) {
      const auto jobs = cluster->make_jobs(session, name_of(session));
      return act_on_cluster(session, *jobs, cluster_action(session, action));
    }
    if (action == "list") {
      return asks_this_machine(session) ? list_local(session) : list(session);
    }
    const bool is_local = kind_ == "local";
    const JobChoice choice{.typed = name_of(session),
                           .kind = is_local ? std::nullopt : read_kind(kind_),
                           .latest = latest_,
                           .infers = !no_infer_,
                           .regions = action == "retry" ? Regions::several : Regions::one};
    if (!choice.typed && !latest_) {
      throw Error(ErrorKind::usage, fmt::format("`autopack jobs {}` needs the job's name", action))
          .hint("`--latest` selects the newest; see the jobs: autopack jobs list");
    }
    const auto wait = longest_wait(polling_interval_);
    if (choice.typed && is_local_job(*choice.typed)) {
      return act_on_local(session, action, find_local_job(session, *choice.typed));
    }
    if (!choice.full_name() && asks_this_machine(session)) {
      return act_on_local(session, action, choose_local_job(session, choice.typed, choice.latest));
    }
    if (action == "retry") {
      follow_flags_.polling_interval = polling_interval_;
      return retry_job(session, choice, follow_flags_);
    }
    GoogleServices google{session};
    const auto jobs = google.jobs();
    if (const auto name = choice.full_name(); name && action == "open") {
      return open(session, *name);
    }
    const auto found = find_job(session, jobs, choice);
    if (action == "describe") {
      return report_job(session, *found.job);
    }
    if (action == "open") {
      return open(session, found.name);
    }
    if (action == "wait") {
      return wait_for(session, jobs, found, wait);
    }
    return action == "cancel" ? cancel(session, jobs, found)
                              : stream(session, google, found, wait, action);
  }

private:
  /// Returns the cluster of the named job, else that of `--submitter`, typed or set; null for the
  /// jobs of Vertex AI and of this machine.
  ClusterOptions* cluster_of(const Session& session) const {
    const auto name = name_of(session).value_or("");
    if (auto* const named = find_cluster(clusters_, name.substr(0, name.find('/')));
        named != nullptr && name.find('/') != std::string::npos) {
      return named;
    }
    const bool is_meant = session.flags.origin("--submitter") && !kind_;
    return is_meant ? find_cluster(clusters_, submitter_) : nullptr;
  }

  ClusterAction cluster_action(const Session& session, const std::string& action) const {
    if (action == "list") {
      check_list_values();
      if (!filter_.empty()) {
        throw Error(ErrorKind::usage, "`--filter` is Vertex AI's own: it chooses no other jobs")
            .hint("`--state` and `--limit` do");
      }
    }
    return {.action = action,
            .job = name_of(session),
            .latest = latest_,
            .state = to_lower(state_),
            .limit = static_cast<std::size_t>(limit_.value_or(0)),
            .task = task_,
            .follows = follow_ || action == "stream-logs",
            .together = together_,
            .longest_wait = longest_wait(polling_interval_)};
  }

  /// Returns true if the jobs of this machine are meant: with `--kind=local`, or if there is no
  /// project, but a job of this machine.
  bool asks_this_machine(Session& session) const {
    if (kind_) {
      return kind_ == "local";
    }
    if (session.flags.is_typed("--submitter")) {
      return submitter_ == "local";
    }
    return !find_location(session, false, Regions::several).project && !local_jobs(session).empty();
  }

  /// Returns the job that the command line names.
  static std::optional<std::string> name_of(const Session& session) {
    return session.arguments.size() < 2 ? std::nullopt : non_empty(session.arguments[1]);
  }

  static void check_flags(const Session& session, const std::string& action) {
    static const std::vector<std::pair<std::string, std::vector<std::string>>> actions_of{
        {"--filter", {"list"}},
        {"--state", {"list"}},
        {"--limit", {"list"}},
        {"--page-size", {"list"}},
        {"--follow", {"logs"}},
        {"--task-name", {"stream-logs", "logs"}},
        {"--polling-interval", {"stream-logs", "logs", "wait", "retry"}},
        {"--accelerator-type", {"retry"}},
        {"--wait", {"retry"}},
        {"--stream-logs", {"retry"}},
        {"--allow-multiline-logs", {"stream-logs", "logs"}}};
    for (const auto& [flag, actions] : actions_of) {
      if (!contains(actions, action) && session.flags.is_typed(flag)) {
        throw Error(ErrorKind::usage, fmt::format("`{}` is for `autopack jobs {}`, not for `{}`",
                                                  flag, actions.front(), action));
      }
    }
    if (action == "list" && session.flags.is_typed("--latest")) {
      throw Error(ErrorKind::usage, "`--latest` chooses one job, and `list` shows all")
          .hint("`autopack jobs list --limit=1` lists the newest");
    }
    if (action == "list" && session.arguments.size() > 1) {
      throw Error(ErrorKind::usage,
                  fmt::format("unexpected argument `{}`", printable(session.arguments[1])))
          .hint("`--filter` chooses jobs; `autopack jobs describe NAME` shows one");
    }
  }

  /// Pipelines have different names of states, also in a filter for all kinds.
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
    check_state();
  }

  /// Throws Error(usage) for a word that is not a state of any kind of job, because the service
  /// would find none.
  void check_state() const {
    static const std::vector<std::string> states{
        "queued", "pending", "running",  "succeeded",          "failed", "cancelling", "cancelled",
        "paused", "expired", "updating", "partially_succeeded"};
    const auto state = to_lower(state_);
    if (state.empty() || contains(states, state)) {
      return;
    }
    Error error(ErrorKind::usage,
                fmt::format("`{}` of `--state` is not a state", printable(state_)));
    if (const auto near = nearest(state, states)) {
      error.hint(fmt::format("did you mean `{}`?", *near));
    }
    throw error.hint(fmt::format("the states are `{}`", join(states, "`, `")));
  }

  static std::vector<std::string> regions_of(const job::Location& location) {
    return location.regions.empty() ? std::vector{location.region.value()} : location.regions;
  }

  std::vector<json> read_list(const job::Location& location, const google::Jobs& service) const {
    const auto limit = static_cast<std::size_t>(limit_.value_or(0));
    std::vector<json> jobs;
    for (const auto& region : regions_of(location)) {
      for (const auto kind : google::job_kinds) {
        if (read_kind(kind_).value_or(kind) != kind) {
          continue;
        }
        std::size_t count = 0;
        service.list({.project = location.project.value(),
                      .region = region,
                      .kind = kind,
                      .filter = non_empty(filter_for(kind)),
                      .page_size = static_cast<int>(page_size_.value_or(100))},
                     [&](const google::Job& job) {
                       jobs.push_back(*job);
                       return limit == 0 || ++count < limit;
                     });
      }
    }
    std::ranges::stable_sort(jobs, [](const json& a, const json& b) {
      return text_at(a, "createTime") > text_at(b, "createTime");
    });
    if (limit != 0 && jobs.size() > limit) {
      jobs.resize(limit);
    }
    return jobs;
  }

  int list(Session& session) const {
    check_list_values();
    GoogleServices google{session};
    const auto location = require_job_location(session, !no_infer_, Regions::several);
    const auto jobs = read_list(location, google.jobs());
    if (jobs.empty() && session.format.kind != OutputFormat::Kind::value) {
      session.console.done("Found",
                           fmt::format("no job in region `{}` of project `{}`",
                                       join(regions_of(location), "`, `"), *location.project));
    }
    if (session.format.kind == OutputFormat::Kind::text) {
      const auto others =
          attempts_elsewhere(google.jobs(), jobs, regions_of(location), *session.services.reporter);
      return report_list(session, join_attempts(jobs, others));
    }
    return report_list(session, jobs);
  }

  int list_local(Session& session) const {
    check_list_values();
    if (!filter_.empty()) {
      throw Error(ErrorKind::usage, "`--filter` is the service's own: it chooses no local jobs")
          .hint("`--state` and `--limit` do");
    }
    auto jobs = local_jobs(session);
    std::erase_if(jobs, [&](const json& job) {
      return !state_.empty() && submit::state_of(job).word != to_lower(state_);
    });
    if (limit_ && jobs.size() > static_cast<std::size_t>(*limit_)) {
      jobs.resize(static_cast<std::size_t>(*limit_));
    }
    if (jobs.empty() && session.format.kind != OutputFormat::Kind::value) {
      session.console.done("Found", "no job of this machine");
    }
    if (!kind_) {
      session.console.done("Listed",
                           "only jobs of this machine: no Google Cloud project is set "
                           "(`--project` names one)");
    }
    return report_list(session, jobs);
  }

  static int cancel(Session& session, const google::Jobs& jobs, const FoundJob& found) {
    auto job = found.job;
    const bool had_ended = submit::state_of(*job).ended;
    if (!had_ended) {
      jobs.cancel(found.name);
      const auto now = jobs.get(found.name);
      job = now ? now : job;
    }
    return report_cancelled(session, *job, found.name.text(), had_ended);
  }

  int act_on_local(Session& session,
                   const std::string& action,
                   const local::JobRecord& record) const {
    if (action == "describe") {
      return report_job(session, job_of(record));
    }
    if (action == "retry") {
      throw Error(ErrorKind::usage,
                  fmt::format("`{}` ran on this machine, which is its only place", record.name()));
    }
    if (action == "cancel") {
      const bool had_ended = submit::state_of(job_of(record)).ended;
      const auto job = cancel_local_job(record, session.services.cancellation);
      return report_cancelled(session, job, record.name(), had_ended);
    }
    if (action == "wait") {
      return report_ended(session, wait_for_local_job(session, record), record.name());
    }
    const auto ended = stream_local_logs(session, record, {.task = task_, .together = together_});
    if (const auto failure = submit::failure_of(ended)) {
      throw *failure;
    }
    return 0;
  }

  static int wait_for(Session& session,
                      const google::Jobs& jobs,
                      const FoundJob& found,
                      std::chrono::milliseconds wait) {
    const auto ended = submit::watch({.jobs = &jobs,
                                      .name = found.name,
                                      .longest_wait = wait,
                                      .reporter = &session.console,
                                      .changed = report_states(session.console)});
    return report_ended(session, *ended, found.name.text());
  }

  static int open(const Session& session, const google::JobName& name) {
    const auto address = name.console_address();
    const bool is_shown = open_browser(address, session.services.environment);
    session.console.result(render(session, json{{"address", address}}, address));
    if (is_shown) {
      session.console.done("Opened", "in the browser");
    }
    return 0;
  }

  int stream(Session& session,
             GoogleServices& google,
             const FoundJob& found,
             std::chrono::milliseconds wait,
             const std::string& action) const {
    const auto jobs = google.jobs();
    const bool follows = follow_ || action == "stream-logs";
    LogText text{session.format, session.console.output_paint(), together_};
    const auto ended =
        submit::watch({.jobs = &jobs,
                       .name = found.name,
                       .logs = submit::LogOptions{.endpoint_override = google.logging_override(),
                                                  .task = task_,
                                                  .required = true},
                       .longest_wait = wait,
                       .follows = follows,
                       .reporter = &session.console,
                       .changed = report_states(session.console),
                       .logged = [&](const google::LogEntry& entry) {
                         session.console.program_output(text.render(entry));
                       }});
    if (follows) {
      throw_unless_succeeded(ended);
    }
    return 0;
  }

  std::vector<std::unique_ptr<ClusterOptions>> clusters_{cluster_options()};
  std::string submitter_{"vertex"};
  std::optional<std::string> kind_;
  bool latest_{false};
  bool no_infer_{false};
  bool follow_{false};
  std::string filter_;
  std::string state_;
  std::optional<std::int64_t> limit_;
  std::optional<std::int64_t> page_size_;
  std::optional<std::string> task_;
  std::optional<std::int64_t> polling_interval_;
  bool together_{false};
  std::optional<std::string> accelerators_;  ///< read as a list
  FollowFlags follow_flags_{};
};

}  // namespace

std::unique_ptr<Command> make_jobs_command() {
  return std::make_unique<JobsCommand>();
}

}  // namespace autopack::cli
