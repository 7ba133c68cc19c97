#include "slurm/jobs.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "slurm/commands.hpp"
#include "slurm/state.hpp"
#include "submit/consecutive_failures.hpp"
#include "submit/job_state.hpp"
#include "submit/poll_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace autopack::slurm {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t longest_kept_line{std::size_t{1} << 20U};

milliseconds monotonic_now() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

/// Returns the name in a log of Vertex AI.
std::string task_of(const std::string& log) {
  return log == "batch" ? "service" : log;
}

/// The new lines of a job's logs.
class LogLines {
public:
  explicit LogLines(const submit::ClusterWatch& watch) : watch_{watch} {}

  const Offsets& offsets() const { return offsets_; }

  /// Reports whole lines. Returns true if there was new text.
  bool take(const std::vector<LogPiece>& pieces) {
    for (const auto& piece : pieces) {
      auto& offset = offsets_[piece.name];
      auto& rest = rests_[piece.name];
      if (piece.offset < offset) {
        rest.clear();  // the job started again, with new files
      }
      offset = piece.offset + piece.text.size();
      rest += piece.text;
      std::size_t begin = 0;
      for (auto end = rest.find('\n'); end != std::string::npos; end = rest.find('\n', begin)) {
        report(piece.name, rest.substr(begin, end - begin));
        begin = end + 1;
      }
      rest.erase(0, begin);
      if (rest.size() > longest_kept_line) {
        report(piece.name, rest);
        rest.clear();
      }
    }
    return !pieces.empty();
  }

  /// Reports the text after the last line breaks.
  void finish() {
    for (auto& [name, rest] : rests_) {
      if (!rest.empty()) {
        report(name, rest);
        rest.clear();
      }
    }
  }

private:
  void report(const std::string& log, const std::string& line) {
    const auto task = task_of(log);
    if (watch_.logged && (!watch_.task || *watch_.task == task)) {
      watch_.logged({.insert_id = std::to_string(++count_), .task = task, .message = line});
    }
  }

  const submit::ClusterWatch& watch_;
  Offsets offsets_{};
  std::map<std::string, std::string> rests_{};
  std::size_t count_{0};
};

class SlurmJobs final : public submit::ClusterJobs {
public:
  explicit SlurmJobs(SlurmJobsOptions options) : options_{std::move(options)} {}

  std::vector<json> list() override {
    std::vector<json> all;
    for (const auto& job : known(std::nullopt)) {
      all.push_back(resource(job));
    }
    return all;
  }

  json get(const std::string& name) override;
  void cancel(const std::string& name) override;
  json watch(const submit::ClusterWatch& watch) override;

private:
  std::vector<KnownJob> known(const std::optional<std::string>& id) const;

  json resource(const KnownJob& job) const {
    return job_resource(job, options_.connection->name());
  }

  std::optional<KnownJob> find(const std::string& id) const {
    auto found = known(id);
    std::erase_if(found, [&](const KnownJob& job) { return job.id != id; });
    // Numbers are used again after a long time.
    const auto queued =
        std::ranges::find_if(found, [](const KnownJob& job) { return job.queued.has_value(); });
    if (queued != found.end()) {
      return std::move(*queued);
    }
    return found.empty() ? std::nullopt : std::optional{std::move(found.front())};
  }

  std::string id_of(const std::string& name) const;
  json follow(const submit::ClusterWatch& watch, const std::string& id) const;
  bool read_log(const KnownJob& job, LogLines& lines) const;

  SlurmJobsOptions options_;
};

std::vector<KnownJob> SlurmJobs::known(const std::optional<std::string>& id) const {
  const auto answer = options_.connection->run(jobs_script(options_.shared_directory, id));
  if (answer.status != 0 || !("\n" + answer.output).ends_with("\nend\n")) {
    throw Error(ErrorKind::remote,
                fmt::format("Slurm on {} did not list its jobs", options_.connection->place()))
        .cause(answer.errors);
  }
  return read_jobs(answer.output);
}

/// Returns the number in a whole name of this cluster. Throws Error(usage).
std::string SlurmJobs::id_of(const std::string& name) const {
  const auto parsed = parse_slurm_name(name);
  if (!parsed || parsed->login != options_.connection->name()) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a job of {}", printable(name),
                                              options_.connection->place()));
  }
  return parsed->id;
}

json SlurmJobs::get(const std::string& name) {
  const auto parsed = parse_slurm_name(name);
  if (parsed || is_job_id(name)) {
    const auto job = find(parsed ? id_of(name) : name);
    if (job || parsed) {
      return job ? resource(*job) : json{};
    }
  }
  auto found = list();
  std::erase_if(found, [&](const json& job) { return text_at(job, "displayName") != name; });
  if (found.size() > 1) {
    Error error{ErrorKind::usage,
                fmt::format("{} jobs are called `{}`", found.size(), printable(name))};
    constexpr std::size_t most_shown{10};
    error.hint("`--latest` selects the newest of them, a name any other:");
    for (const auto& job : found) {
      if (error.hints().size() <= most_shown) {
        error.hint(fmt::format("{} {} {}", text_at(job, "name"), submit::state_of(job).word,
                               text_at(job, "createTime")));
      }
    }
    throw error;
  }
  return found.empty() ? json{} : found.front();
}

void SlurmJobs::cancel(const std::string& name) {
  const auto id = id_of(name);
  const auto answer = options_.connection->run("scancel " + id);
  // It does not list a job that has ended.
  if (answer.status != 0) {
    throw Error(ErrorKind::remote, fmt::format("`{}` was not cancelled", printable(name)))
        .cause(answer.errors);
  }
}

bool SlurmJobs::read_log(const KnownJob& job, LogLines& lines) const {
  if (job.directory.empty()) {
    return false;
  }
  const auto answer = options_.connection->run(logs_script(job.directory, lines.offsets()));
  const auto pieces = answer.status == 0 ? read_logs(answer.output) : std::nullopt;
  if (!pieces) {
    throw Error(ErrorKind::remote, "the logs of the job cannot be read").cause(answer.errors);
  }
  return lines.take(*pieces);
}

json SlurmJobs::follow(const submit::ClusterWatch& watch, const std::string& id) const {
  submit::ConsecutiveFailures failures{monotonic_now};
  submit::PollInterval interval{watch.longest_wait};
  LogLines lines{watch};
  std::string reported;
  json last;
  for (;;) {
    try {
      const auto job = find(id);
      if (!job) {
        throw Error(ErrorKind::usage, fmt::format("there is no job `{}`", printable(watch.name)));
      }
      last = resource(*job);
      const auto state = text_at(last, "state") + "\n" + text_at(last, "detail");
      const bool is_new = state != reported;
      if (is_new && watch.changed) {
        watch.changed(last);
      }
      reported = state;
      // After the state: what the log has now is all of it if the job has ended.
      const bool has_ended =
          submit::state_of(last).ended || text_at(last, "state") == "JOB_STATE_UNSPECIFIED";
      bool has_text = false;
      while (watch.with_logs && read_log(*job, lines)) {
        has_text = true;
        if (options_.cancellation != nullptr) {
          options_.cancellation->throw_if_requested();
        }
        if (!has_ended && watch.follows) {
          break;
        }
      }
      if (failures.ended()) {
        options_.reporter->done("Reached", options_.connection->place() + " again");
      }
      if (has_ended || !watch.follows) {
        lines.finish();
        return last;
      }
      sleep_unless_cancelled(interval.next(is_new || has_text), options_.cancellation);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::remote) {
        throw;
      }
      if (failures.happened({})) {
        options_.reporter->warn(Problem::warning(
            {.message = error.message(), .reason = "trying again for half an hour"}));
      }
      if (failures.lasts_too_long()) {
        throw;
      }
      while (!failures.may_retry()) {
        sleep_unless_cancelled(100ms, options_.cancellation);
      }
    }
  }
}

json SlurmJobs::watch(const submit::ClusterWatch& watch) {
  const auto id = id_of(watch.name);
  const auto hint = fmt::format("the job continues; follow it: autopack jobs {} {}",
                                watch.with_logs ? "stream-logs" : "wait", shell_quote(watch.name));
  try {
    return follow(watch, id);
  } catch (const Interrupted& interrupted) {
    auto report = interrupted.report();
    throw Interrupted{
        report.hint(hint).hint("cancel it: autopack jobs cancel " + shell_quote(watch.name))};
  } catch (Error& error) {
    error.hint(hint);
    throw;
  }
}

}  // namespace

std::optional<SlurmName> parse_slurm_name(const std::string& name) {
  const auto parts = split(name, '/');
  if (parts.size() != 3 || parts[0] != "slurm" || parts[1].empty() || !is_job_id(parts[2])) {
    return std::nullopt;
  }
  return SlurmName{.login = parts[1], .id = parts[2]};
}

std::unique_ptr<submit::ClusterJobs> make_slurm_jobs(SlurmJobsOptions options) {
  return std::make_unique<SlurmJobs>(std::move(options));
}

}  // namespace autopack::slurm
