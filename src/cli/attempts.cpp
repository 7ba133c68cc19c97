#include "cli/attempts.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace autopack::cli {

using nlohmann::json;

namespace {

json attempt_object(const submit::Tried& tried, const json& place) {
  auto object = place;
  object["name"] = tried.name ? json(*tried.name) : json{};
  object["state"] = tried.job ? submit::state_of(*tried.job).word : "refused";
  if (tried.reason) {
    object["reason"] = *tried.reason;
  }
  return object;
}

/// Returns the failure of the last job, with the places that were tried.
Error with_places(Error failure, const std::vector<submit::Tried>& tried) {
  if (tried.size() > 1 && tried.back().reason) {
    for (const auto& one : tried) {
      failure.cause(fmt::format("no capacity in {}", to_string(one.candidate)));
    }
  }
  return failure;
}

}  // namespace

submit::VertexOptions vertex_options(Session& session,
                                     const job::Location& location,
                                     GoogleServices& google,
                                     SubmissionResult& result) {
  return {
      .location = location,
      .endpoint_override = google.aiplatform_override(),
      .service = &google.service(),
      .uninterrupted = session.services.unstoppable_client.function(),
      .reporter = &session.console,
      .created = [&result](const submit::SubmittedJob& job) { result.created("Submitted", job); },
      .records = session.services.environment.cache_directory() / "submissions"};
}

json place_object(const submit::Place& place) {
  json object{{"region", place.candidate.region}};
  const auto& pools = place.job.spec.pools;
  const auto machine =
      pools.empty() ? job::Machine{} : pools.front().machine.value_or(job::Machine{});
  if (machine.type) {
    object["machineType"] = *machine.type;
  }
  if (machine.accelerator) {
    object["acceleratorType"] = *machine.accelerator;
  }
  return object;
}

void try_places(Session& session,
                GoogleServices& google,
                SubmissionResult& result,
                const FollowFlags& follow,
                AttemptsPlan plan) {
  std::map<std::string, json> objects;
  for (const auto& place : plan.places) {
    objects.emplace(to_string(place.candidate), place_object(place));
  }
  std::vector<submit::Tried> tried;
  submit::AttemptsOptions options{
      .places = std::move(plan.places),
      .group = std::move(plan.group),
      .earlier = plan.earlier,
      .labels = std::move(plan.labels),
      .submitter =
          [&](const submit::Place& place, submit::Attempt attempt) {
            auto location = plan.location;
            location.region = place.candidate.region;
            auto submitter = vertex_options(session, location, google, result);
            submitter.attempt = std::move(attempt);
            return submit::make_vertex_submitter(std::move(submitter));
          },
      .prepare = std::move(plan.prepare),
      .reporter = &session.console,
      .cancellation = session.services.cancellation,
      .changed =
          [&](const std::vector<submit::Tried>& all) {
            tried = all;
            auto list = json::array();
            for (const auto& one : all) {
              list.push_back(attempt_object(one, objects.at(to_string(one.candidate))));
            }
            result.attempts(std::move(list));
            if (all.back().job) {
              result.job(all.back().job);
            }
          }};
  if (follow.any()) {
    options.follow = [&](const std::string& name) {
      return cli::follow(session, google, name, follow);
    };
  }
  const auto end = submit::run_attempts(options);
  if (!end.ended && !end.left.empty()) {
    session.console.done(
        "Next", fmt::format("{}, if it ends for lack of capacity: autopack jobs "
                            "retry {}",
                            to_string(end.left.front()), shell_quote(end.job.name.value_or(""))));
  }
  if (end.ended) {
    if (const auto failure = submit::failure_of(*end.ended)) {
      throw with_places(*failure, tried);
    }
  }
  result.print();
}

}  // namespace autopack::cli
