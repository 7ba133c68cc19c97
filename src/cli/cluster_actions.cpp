#include "cli/cluster_actions.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/job_reports.hpp"
#include "cli/log_text.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace autopack::cli {

using nlohmann::json;

namespace {

int list_cluster_jobs(Session& session, submit::ClusterJobs& jobs, const ClusterAction& action) {
  auto found = jobs.list();
  std::erase_if(found, [&](const json& job) {
    return !action.state.empty() && submit::state_of(job).word != action.state;
  });
  if (action.limit > 0 && found.size() > action.limit) {
    found.resize(action.limit);
  }
  if (found.empty() && session.format.kind != OutputFormat::Kind::value) {
    session.console.done("Found", "no job that autopack submitted");
  }
  return report_list(session, found);
}

/// Returns the job that the command line names.
json find_cluster_job(submit::ClusterJobs& jobs, const ClusterAction& action) {
  if (action.job && !action.latest) {
    auto job = jobs.get(*action.job);
    if (job.is_null()) {
      throw Error(ErrorKind::remote, fmt::format("there is no job `{}`", printable(*action.job)))
          .hint("see which there are: autopack jobs list");
    }
    return job;
  }
  if (!action.latest) {
    throw Error(ErrorKind::usage,
                fmt::format("`autopack jobs {}` needs the job's name", action.action))
        .hint("`--latest` selects the newest; see the jobs: autopack jobs list");
  }
  auto found = jobs.list();
  std::erase_if(found, [&](const json& job) {
    return action.job && text_at(job, "displayName") != *action.job &&
           text_at(job, "name") != *action.job;
  });
  if (found.empty()) {
    throw Error(ErrorKind::remote, action.job
                                       ? fmt::format("there is no job `{}`", printable(*action.job))
                                       : std::string{"there is no job that autopack submitted"});
  }
  return found.front();
}

int cancel_cluster_job(Session& session, submit::ClusterJobs& jobs, json job) {
  const auto name = text_at(job, "name");
  const bool had_ended = submit::state_of(job).ended;
  if (!had_ended) {
    jobs.cancel(name);
    if (auto now = jobs.get(name); !now.is_null()) {
      job = std::move(now);
    } else {
      job["state"] = "JOB_STATE_CANCELLED";
    }
  }
  return report_cancelled(session, job, name, had_ended);
}

/// Reports the states of a job as report_states does, each with the cluster's reason.
class StateReports {
public:
  explicit StateReports(Session& session)
      : session_{session}, report_{report_states(session.console)} {}

  void report(const json& job) {
    report_(std::make_shared<const json>(job));
    const auto detail = text_at(job, "detail");
    if (!detail.empty() && detail != reported_) {
      session_.console.done("Reason", printable(detail));
    }
    reported_ = detail;
  }

private:
  Session& session_;
  std::function<void(const google::Job& job)> report_;
  std::string reported_{};
};

int stream_cluster_logs(Session& session,
                        submit::ClusterJobs& jobs,
                        const std::string& name,
                        const ClusterAction& action) {
  LogText text{session.format, session.console.output_paint(), action.together};
  StateReports reports{session};
  const auto ended = jobs.watch({.name = name,
                                 .with_logs = true,
                                 .follows = action.follows,
                                 .task = action.task,
                                 .longest_wait = action.longest_wait,
                                 .changed = [&](const json& changed) { reports.report(changed); },
                                 .logged =
                                     [&](const google::LogEntry& entry) {
                                       session.console.program_output(text.render(entry));
                                     }});
  const auto failure = action.follows ? submit::failure_of(ended) : std::nullopt;
  if (failure) {
    throw *failure;
  }
  return 0;
}

}  // namespace

int act_on_cluster(Session& session, submit::ClusterJobs& jobs, const ClusterAction& action) {
  if (action.action == "list") {
    return list_cluster_jobs(session, jobs, action);
  }
  if (action.action == "retry" || action.action == "open") {
    throw Error(ErrorKind::usage,
                fmt::format("`autopack jobs {}` is for jobs of Vertex AI", action.action));
  }
  auto job = find_cluster_job(jobs, action);
  const auto name = text_at(job, "name");
  if (action.action == "describe") {
    return report_job(session, job);
  }
  if (action.action == "cancel") {
    return cancel_cluster_job(session, jobs, std::move(job));
  }
  if (action.action == "wait") {
    StateReports reports{session};
    const auto ended = jobs.watch(
        {.name = name, .longest_wait = action.longest_wait, .changed = [&](const json& changed) {
           reports.report(changed);
         }});
    return report_ended(session, ended, name);
  }
  return stream_cluster_logs(session, jobs, name, action);
}

json follow_cluster_job(Session& session,
                        submit::ClusterJobs& jobs,
                        const std::string& name,
                        const FollowFlags& flags) {
  LogText text{{}, session.console.error_paint(), false};
  StateReports reports{session};
  return jobs.watch({.name = name,
                     .with_logs = flags.stream_logs,
                     .longest_wait = longest_wait(flags.polling_interval),
                     .changed = [&](const json& changed) { reports.report(changed); },
                     .logged =
                         [&](const google::LogEntry& entry) {
                           session.console.program_errors(text.render(entry));
                         }});
}

}  // namespace autopack::cli
