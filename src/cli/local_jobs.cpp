#include "cli/local_jobs.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "cli/following.hpp"
#include "cli/job_text.hpp"
#include "cli/log_text.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace autopack::cli {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr auto look_period = 200ms;
/// The time for a cancelled job to end, and some more.
constexpr int most_looks = 60;

local::JobRecords records_of(const Session& session) {
  return local::JobRecords{session.services.environment.cache_directory() / "jobs"};
}

}  // namespace

bool is_local_job(std::string_view name) {
  return name.starts_with("local/");
}

std::vector<json> local_jobs(Session& session) {
  std::vector<json> jobs;
  for (const auto& record : records_of(session).all()) {
    if (auto job = record.job(); job.is_object()) {
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

local::JobRecord find_local_job(Session& session, const std::string& name) {
  auto record = records_of(session).find(name);
  if (!record) {
    throw Error(ErrorKind::usage,
                fmt::format("there is no job `{}` on this machine", printable(name)))
        .hint("see which there are: autopack jobs list --kind=local");
  }
  return std::move(*record);
}

local::JobRecord choose_local_job(Session& session,
                                  const std::optional<std::string>& typed,
                                  bool latest) {
  auto jobs = local_jobs(session);
  std::erase_if(jobs, [&](const json& job) {
    return typed && text_at(job, "name") != "local/" + *typed &&
           text_at(job, "displayName") != *typed;
  });
  if (jobs.empty()) {
    throw Error(ErrorKind::usage,
                typed ? fmt::format("there is no job `{}` on this machine", printable(*typed))
                      : std::string{"there is no job on this machine"})
        .hint("see which there are: autopack jobs list --kind=local");
  }
  if (jobs.size() > 1 && !latest) {
    constexpr std::size_t most_reported{10};
    Error error(ErrorKind::usage, fmt::format("{} jobs of this machine are called `{}`",
                                              jobs.size(), printable(typed.value_or(""))));
    error.hint("`--latest` selects the newest of them, an ID any other:");
    jobs.resize(std::min(jobs.size(), most_reported));
    for (const auto& line : split(trim(job_table(jobs)), '\n')) {
      error.hint(line);
    }
    throw error;
  }
  return find_local_job(session, text_at(jobs.front(), "name"));
}

json job_of(const local::JobRecord& record) {
  auto job = record.job();
  if (!job.is_object()) {
    throw Error(ErrorKind::environment,
                fmt::format("cannot read the record of `{}`", record.name()));
  }
  return job;
}

json study_of(const local::JobRecord& record) {
  auto job = job_of(record);
  if (!job.contains("trials")) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a study that has begun", record.name()));
  }
  if (!submit::state_of(job).ended) {
    throw Error(ErrorKind::usage, fmt::format("`{}` still runs", record.name()))
        .hint("follow it: autopack jobs logs -f " + record.name());
  }
  for (const auto* made :
       {"name", "state", "error", "createTime", "updateTime", "startTime", "endTime", "trials"}) {
    job.erase(made);
  }
  return job;
}

json cancel_local_job(const local::JobRecord& record, const Cancellation* cancellation) {
  auto job = job_of(record);
  if (submit::state_of(job).ended) {
    return job;
  }
  record.ask_for_end();
  for (int i = 0; i < most_looks && !submit::state_of(job).ended; ++i) {
    sleep_unless_cancelled(look_period, cancellation);
    job = job_of(record);
  }
  return job;
}

json wait_for_local_job(Session& session, const local::JobRecord& record) {
  const auto report = report_states(session.console);
  std::string reported;
  for (;;) {
    auto job = job_of(record);
    const auto state = submit::state_of(job);
    if (state.word != reported) {
      reported = state.word;
      report(std::make_shared<const json>(job));
    }
    if (state.ended) {
      return job;
    }
    sleep_unless_cancelled(look_period, session.services.cancellation);
  }
}

json stream_local_logs(Session& session,
                       const local::JobRecord& record,
                       const LocalLogOptions& options) {
  LogText text{session.format, session.console.output_paint(), options.together};
  std::uint64_t offset = 0;
  for (;;) {
    auto job = job_of(record);  // before the log: entries after the job's end were written before
    auto entries = record.entries(offset);
    for (bool more = !entries.empty(); more; more = !entries.empty()) {
      for (const auto& entry : entries) {
        if (!options.task || entry.task == *options.task) {
          session.console.program_output(text.render(entry));
        }
      }
      entries = record.entries(offset);
    }
    if (submit::state_of(job).ended) {
      return job;
    }
    sleep_unless_cancelled(look_period, session.services.cancellation);
  }
}

}  // namespace autopack::cli
