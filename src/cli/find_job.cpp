#include "cli/find_job.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/following.hpp"
#include "cli/google_services.hpp"
#include "cli/job_text.hpp"
#include "submit/group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace autopack::cli {

namespace {

using google::JobKind;
using google::JobName;

/// The limit of listed jobs with one name.
constexpr std::size_t most_listed{1000};
constexpr std::size_t most_jobs_reported{10};

bool is_number(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Checks that a flag of the command line does not contradict the name; settings of the environment
/// and of gcloud only fill in missing parts.
void check_part(const Session& session,
                const char* flag,
                const std::optional<std::string>& typed,
                const std::string& of_name,
                const JobName& name) {
  if (!typed || !session.flags.is_typed(flag) || typed == of_name) {
    return;
  }
  // A project's number and its id cannot be compared.
  if (is_number(*typed) != is_number(of_name)) {
    return;
  }
  throw Error(ErrorKind::usage, fmt::format("`{}={}` differs from `{}` in the job's name `{}`",
                                            flag, printable(*typed), of_name, name.text()))
      .hint(fmt::format("leave out `{}`: the job's name has it", flag));
}

FoundJob find_by_name(const Session& session,
                      const google::Jobs& jobs,
                      const JobName& name,
                      const JobChoice& choice) {
  const auto& kind = choice.kind;
  if (choice.regions == Regions::one) {
    check_part(session, "--region", session.global.region, name.region, name);
  }
  check_part(session, "--project", session.global.project, name.project, name);
  if (kind && *kind != name.kind) {
    throw Error(ErrorKind::usage,
                fmt::format("`--kind` asks for a {}, but `{}` names a {}", google::words_of(*kind),
                            name.text(), google::words_of(name.kind)));
  }
  if (auto job = jobs.get(name)) {
    return {.name = name, .job = std::move(job)};
  }
  throw Error(ErrorKind::remote,
              fmt::format("there is no {} `{}`", google::words_of(name.kind), name.text()))
      .hint(fmt::format("see which there are: autopack jobs list --project={} --region={}",
                        name.project, name.region));
}

std::optional<FoundJob> find_by_id(const google::Jobs& jobs,
                                   const JobChoice& choice,
                                   const std::string& id,
                                   const job::Location& location) {
  for (const auto each : google::job_kinds) {
    if (choice.kind.value_or(each) != each) {
      continue;
    }
    const JobName name{
        .project = *location.project, .region = *location.region, .kind = each, .id = id};
    if (auto job = jobs.get(name)) {
      return FoundJob{.name = name, .job = std::move(job)};
    }
  }
  return std::nullopt;
}

/// Returns the jobs called `choice.typed`, newest first; all jobs if no name was typed.
std::vector<nlohmann::json> list_named(const google::Jobs& jobs,
                                       const JobChoice& choice,
                                       const job::Location& location) {
  std::vector<nlohmann::json> found;
  for (const auto each : google::job_kinds) {
    if (choice.kind.value_or(each) != each) {
      continue;
    }
    jobs.list(
        {.project = *location.project,
         .region = *location.region,
         .kind = each,
         .filter = choice.typed ? std::optional{"display_name=" + double_quoted(*choice.typed)}
                                : std::nullopt},
        [&](const google::Job& job) {
          found.push_back(*job);
          return found.size() < most_listed;
        });
  }
  std::ranges::stable_sort(found, [](const auto& one, const auto& other) {
    return text_at(one, "createTime") > text_at(other, "createTime");
  });
  return found;
}

/// Returns the kind for people: `custom job`.
std::string words_of(const JobChoice& choice) {
  return std::string{choice.kind ? google::words_of(*choice.kind) : "job"};
}

Error no_such_job(const JobChoice& choice, const job::Location& location) {
  const auto name = choice.typed ? fmt::format(" `{}`", printable(*choice.typed)) : std::string{};
  return Error(ErrorKind::remote,
               fmt::format("there is no {}{} in region `{}` of project `{}`", words_of(choice),
                           name, *location.region, *location.project))
      .hint(fmt::format("see which there are: autopack jobs list --project={} --region={}",
                        *location.project, *location.region));
}

Error several_jobs(const JobChoice& choice, const std::vector<nlohmann::json>& found) {
  Error error(ErrorKind::usage,
              fmt::format("{}{} {}s are called `{}`", found.size(),
                          found.size() < most_listed ? "" : " or more", words_of(choice),
                          printable(choice.typed.value_or(""))));
  error.hint("`--latest` selects the newest of them, an ID any other:");
  const auto shown = std::min(found.size(), most_jobs_reported);
  const std::vector<nlohmann::json> first(found.begin(),
                                          found.begin() + static_cast<std::ptrdiff_t>(shown));
  for (const auto& line : split(trim(job_table(first)), '\n')) {
    error.hint(line);
  }
  if (shown < found.size()) {
    error.hint(fmt::format("and {} older ones", found.size() - shown));
  }
  return error;
}

FoundJob find_listed(const google::Jobs& jobs,
                     const JobChoice& choice,
                     const job::Location& location) {
  const auto found = list_named(jobs, choice, location);
  if (found.empty()) {
    throw no_such_job(choice, location);
  }
  const bool is_one_group = std::ranges::all_of(found, [&](const auto& one) {
    return submit::group_of(one) == submit::group_of(found.front());
  });
  if (found.size() > 1 && !choice.latest && !is_one_group) {
    throw several_jobs(choice, found);
  }
  const auto text = text_at(found.front(), "name");
  const auto name = JobName::parse(text);
  if (!name) {
    throw Error(
        ErrorKind::remote,
        fmt::format("the service named a job `{}`, which is not a valid name", printable(text)));
  }
  return {.name = *name, .job = std::make_shared<const nlohmann::json>(found.front())};
}

void check_location_part(const char* what, const std::string& value) {
  if (!google::is_name_part(value)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a {}", printable(value), what));
  }
}

}  // namespace

std::optional<JobKind> read_kind(const std::optional<std::string>& kind) {
  if (!kind) {
    return std::nullopt;
  }
  if (kind == "custom") {
    return JobKind::custom;
  }
  return kind == "tuning" ? JobKind::tuning : JobKind::pipeline;
}

job::Location require_job_location(const Session& session, bool infers, Regions regions) {
  auto location = find_location(session, false, regions);
  if (infers && !location.region) {
    location = find_location(session, true, regions);
    if (location.region_origin) {
      session.console.done("Inferred", fmt::format("region `{}`: {} (`--region` names another)",
                                                   printable(location.region.value()),
                                                   to_string(*location.region_origin)));
    }
  }
  throw_if_errors(job::missing_parts(location), ErrorKind::usage);
  check_location_part("project", *location.project);
  check_location_part("region", *location.region);
  for (const auto& region : location.regions) {
    check_location_part("region", region);
  }
  return location;
}

FoundJob find_job(Session& session, const google::Jobs& jobs, const JobChoice& choice) {
  if (const auto name = choice.full_name()) {
    return find_by_name(session, jobs, *name, choice);
  }
  const auto& typed = choice.typed;
  if (typed && (typed->find('/') != std::string::npos || printable(*typed) != *typed)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a job", printable(*typed)))
        .hint(
            "a name is projects/PROJECT/locations/REGION/customJobs/ID, with customJobs, "
            "hyperparameterTuningJobs or trainingPipelines; the ID alone; or the display name");
  }
  const auto location = require_job_location(session, choice.infers, choice.regions);
  if (typed && is_number(*typed)) {
    if (auto found = find_by_id(jobs, choice, *typed, location)) {
      return *found;
    }
  }
  return find_listed(jobs, choice, location);
}

}  // namespace autopack::cli
