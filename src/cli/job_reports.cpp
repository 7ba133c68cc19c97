#include "cli/job_reports.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "cli/job_text.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

namespace autopack::cli {

using nlohmann::json;

namespace {

/// Returns `been cancelled` for `cancelled`, else the state itself: `succeeded`.
std::string past_of(const std::string& state) {
  return state == "cancelled" || state == "expired" ? "been " + state : state;
}

}  // namespace

int report_list(Session& session, const std::vector<json>& jobs) {
  if (session.format.kind == OutputFormat::Kind::value) {
    std::string text;
    for (const auto& job : jobs) {
      text += &job == &jobs.front() ? render(session, job, {}) : render(session.format, job, {});
    }
    session.console.result(text);
    return 0;
  }
  report_result(session, json(jobs), job_table(jobs, session.console.output_paint()));
  return 0;
}

int report_job(Session& session, const json& job) {
  report_result(session, job, job_details(job));
  const auto failure = submit::failure_of(job);
  if (failure && submit::state_of(job).ended && !failure->causes().empty()) {
    session.console.warn(
        Problem::warning({.message = failure->message() + ": " + failure->causes().back(),
                          .hints = {failure->hints().front()}}));
  }
  return 0;
}

int report_cancelled(Session& session, const json& job, const std::string& name, bool had_ended) {
  const auto state = submit::state_of(job);
  if (had_ended) {
    session.console.done("Unchanged", fmt::format("{} had already {}", name, past_of(state.word)));
  } else if (state.ended) {
    session.console.done(
        state.word == "cancelled" ? "Cancelled" : "Ended",
        state.word == "cancelled" ? name : fmt::format("{}: it has {}", name, past_of(state.word)));
  } else {
    session.console.done("Cancelling", name);
  }
  session.console.result(render(session, job, name));
  return 0;
}

int report_ended(Session& session, const json& job, const std::string& name) {
  session.console.result(render(session, job, name));
  if (const auto failure = submit::failure_of(job)) {
    throw *failure;
  }
  return 0;
}

}  // namespace autopack::cli
