#include "cli/retry.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/attempts.hpp"
#include "cli/job_options.hpp"
#include "cli/preflight.hpp"
#include "job/tables.hpp"
#include "pipeline/places.hpp"
#include "submit/capacity.hpp"
#include "submit/group.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace autopack::cli {

using submit::ListedAttempt;

namespace {

/// Returns the typed list of a flag; a file's is for new jobs.
std::vector<std::string> typed_list(const Session& session, const char* flag) {
  const auto origin = session.flags.origin(flag);
  const bool counts = origin && origin->kind != job::Origin::Kind::file;
  return counts ? session.flags.listed(flag) : std::vector<std::string>{};
}

/// Returns the places of the job, tried or not.
job::CandidateLists places_of(const Session& session, const ListedAttempt& attempt) {
  auto lists = job::read_candidate_labels(submit::labels_of(*attempt.job));
  if (auto typed = typed_list(session, "--region"); !typed.empty()) {
    lists.regions = std::move(typed);
  } else if (lists.regions.empty()) {
    lists.regions = {attempt.name.region};
  }
  if (auto typed = typed_list(session, "--accelerator-type"); !typed.empty()) {
    lists.accelerators = std::move(typed);
  }
  const auto own = submit::accelerator_of(*attempt.job);
  if (!own && !lists.accelerators.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("`--accelerator-type` replaces a GPU, and `{}` has none", attempt.name.text()));
  }
  if (lists.accelerators.size() == 1 && own && lists.accelerators.front() != *own) {
    lists.accelerators.insert(lists.accelerators.begin(), *own);
  }
  return lists;
}

/// Throws Error(usage) unless the newest attempt ended for lack of capacity.
void check_end(const ListedAttempt& newest) {
  const auto state = submit::state_of(*newest.job);
  const auto name = newest.name.text();
  if (!state.ended) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is {}: it has not ended", name, state.word))
        .hint("follow it: autopack jobs logs -f " + name);
  }
  if (submit::lack_of_capacity(*newest.job)) {
    return;
  }
  Error error{ErrorKind::usage,
              fmt::format("`{}` did not end for lack of capacity, but is {}", name, state.word)};
  if (const auto failure = submit::failure_of(*newest.job); failure && !failure->causes().empty()) {
    error.cause(failure->causes().front());
  }
  throw error.hint("see all of it: autopack jobs describe " + name);
}

/// Returns the labels for the next attempts: typed places do not make the job forget its own.
std::map<std::string, std::string> labels_for(const job::CandidateLists& lists,
                                              const ListedAttempt& attempt) {
  auto all = job::read_candidate_labels(submit::labels_of(*attempt.job));
  const auto add = [](std::vector<std::string>& into, const std::vector<std::string>& names) {
    std::ranges::copy_if(names, std::back_inserter(into),
                         [&](const auto& name) { return !contains(into, name); });
  };
  add(all.regions, {attempt.name.region});
  add(all.regions, lists.regions);
  add(all.accelerators, lists.accelerators);
  return job::candidate_labels(all);
}

std::vector<job::Candidate> untried(const job::CandidateLists& lists,
                                    const std::vector<ListedAttempt>& attempts) {
  auto candidates = lists.in_order();
  std::erase_if(candidates, [&](const auto& one) { return submit::was_tried(attempts, one); });
  if (!candidates.empty()) {
    return candidates;
  }
  Error error{ErrorKind::remote, "every place of the job was tried"};
  for (const auto& attempt : attempts) {
    error.cause(fmt::format("{}: {}", attempt.name.text(), submit::state_of(*attempt.job).word));
  }
  throw error.hint("`--region=REGION,...` names others, `--accelerator-type=TYPE,...` other GPUs");
}

/// Returns the request for the same job. Fields that this version does not know are left out, with
/// a warning.
pipeline::SubmissionRequest request_of(const Session& session, const ListedAttempt& attempt) {
  Problems problems;
  pipeline::SubmissionRequest request{.checks = {.today = today()}};
  request.config = job::parse_config(print_json(*attempt.job), attempt.name.text(), problems);
  for (auto& problem : problems) {
    if (problem.severity == Problem::Severity::error) {
      session.console.warn(
          Problem::warning({.message = "a field of the job is left out: " + problem.message}));
    }
  }
  if (auto& labels = request.config->job.labels) {
    std::erase_if(*labels, [](const auto& label) { return label.first.starts_with("autopack-"); });
    if (labels->empty()) {
      labels.reset();
    }
  }
  // The service names projects by number, and a user by id.
  const auto location = find_location(session, false, Regions::several);
  const bool is_number = std::ranges::all_of(attempt.name.project, is_digit);
  request.location.project =
      is_number && location.project ? *location.project : attempt.name.project;
  request.infers_machine = true;
  return request;
}

/// Returns the regions that may have attempts. One that does not exist has no service to ask.
std::vector<std::string> regions_of(const job::CandidateLists& lists, const ListedAttempt& one) {
  auto regions = lists.regions;
  for (const auto& region : job::read_candidate_labels(submit::labels_of(*one.job)).regions) {
    if (!contains(regions, region)) {
      regions.push_back(region);
    }
  }
  if (!contains(regions, one.name.region)) {
    regions.push_back(one.name.region);
  }
  std::erase_if(regions,
                [](const auto& region) { return !contains(job::tables::regions(), region); });
  return regions;
}

}  // namespace

void add_retry_flags(FlagSet& flags,
                     std::optional<std::string>& accelerators,
                     FollowFlags& follow) {
  flags.section("retry", false);
  flags.text("--accelerator-type", "TYPE,...", accelerators,
             "GPUs to try in order; --region likewise; default: the job's own lists");
  add_follow_flags(flags, follow);
}

int retry_job(Session& session, const JobChoice& choice, const FollowFlags& follow) {
  GoogleServices google{session};
  const auto jobs = google.jobs();
  const auto found = find_job(session, jobs, choice);
  const ListedAttempt named{
      .name = found.name, .number = submit::attempt_number(*found.job), .job = found.job};
  const auto lists = places_of(session, named);
  const auto attempts = submit::list_attempts(jobs, named, regions_of(lists, named));
  const auto& newest = attempts.back();
  check_end(newest);
  const auto candidates = untried(lists, attempts);
  auto places = pipeline::find_places(session.services, request_of(session, newest), candidates,
                                      [&](const std::vector<preflight::PlannedJob>& planned) {
                                        return ask_quotas(session, planned);
                                      });
  // An error that all places share is one of the job.
  const auto& first = places.front().request;
  static_cast<void>(
      job::make_job(first.flags, &first.config.value(), first.location, first.checks));
  AttemptsPlan plan{.location = places.front().request.location,
                    .labels = labels_for(lists, newest),
                    .group = submit::group_of(*named.job),
                    .earlier = newest.number};
  for (auto& place : places) {
    plan.places.push_back({.candidate = place.candidate, .job = std::move(place.job)});
  }
  SubmissionResult result{session, follow.any()};
  return result.run([&] { try_places(session, google, result, follow, std::move(plan)); });
}

}  // namespace autopack::cli
