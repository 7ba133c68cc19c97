#include "cli/job_lookup.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

using google::JobKind;
using google::JobName;

bool is_number(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// A flag of the command line that says otherwise than the name; settings of the environment and
/// of gcloud only stand in for what a name lacks.
void check_part(const Session& session,
                const char* flag,
                const std::string& typed,
                const std::string& of_name,
                const JobName& name) {
  // A project's number and its id cannot be compared.
  const bool comparable = is_number(typed) == is_number(of_name);
  if (!session.flags.is_typed(flag) || typed == of_name || !comparable) {
    return;
  }
  throw Error(ErrorKind::usage, fmt::format("`{}={}` differs from `{}` in the job's name `{}`",
                                            flag, printable(typed), of_name, name.text()))
      .hint(fmt::format("leave `{}` out: the name says it", flag));
}

FoundJob find_by_name(const Session& session,
                      const google::Jobs& jobs,
                      const JobName& name,
                      std::optional<JobKind> kind) {
  check_part(session, "--region", session.global.region, name.region, name);
  check_part(session, "--project", session.global.project, name.project, name);
  if (kind && *kind != name.kind) {
    throw Error(ErrorKind::usage,
                fmt::format("`--kind` says {}, but `{}` names a {}", google::words_of(*kind),
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

FoundJob find_by_id(const google::Jobs& jobs,
                    const std::string& id,
                    const job::Location& location,
                    std::optional<JobKind> kind) {
  for (const auto each : google::job_kinds) {
    if (kind && *kind != each) {
      continue;
    }
    const JobName name{
        .project = location.project, .region = location.region, .kind = each, .id = id};
    if (auto job = jobs.get(name)) {
      return {.name = name, .job = std::move(job)};
    }
  }
  throw Error(ErrorKind::remote, fmt::format("there is no {} `{}` in region `{}` of project `{}`",
                                             kind ? google::words_of(*kind) : "job", id,
                                             location.region, location.project))
      .hint(fmt::format("see which there are: autopack jobs list --project={} --region={}",
                        location.project, location.region));
}

void check_location_part(const char* what, const std::string& value) {
  if (!value.empty() && !google::is_name_part(value)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is no {}", printable(value), what));
  }
}

}  // namespace

std::optional<JobKind> read_kind(const std::string& kind) {
  if (kind.empty()) {
    return std::nullopt;
  }
  if (kind == "custom") {
    return JobKind::custom;
  }
  return kind == "tuning" ? JobKind::tuning : JobKind::pipeline;
}

job::Location require_job_location(const Session& session) {
  auto location = find_location(session);
  throw_if_errors(job::missing_parts(location), ErrorKind::usage);
  check_location_part("project", location.project);
  check_location_part("region", location.region);
  return location;
}

FoundJob find_job(Session& session,
                  const google::Jobs& jobs,
                  const std::string& typed,
                  std::optional<JobKind> kind) {
  if (const auto name = JobName::parse(typed)) {
    return find_by_name(session, jobs, *name, kind);
  }
  if (typed.starts_with("local/")) {
    throw Error(ErrorKind::usage,
                fmt::format("`{}` ran on this machine, which keeps no jobs", printable(typed)));
  }
  if (!google::is_name_part(typed)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is no name of a job", printable(typed)))
        .hint(
            "a name is projects/PROJECT/locations/REGION/customJobs/ID, with customJobs, "
            "hyperparameterTuningJobs or trainingPipelines; or the ID alone");
  }
  return find_by_id(jobs, typed, require_job_location(session), kind);
}

}  // namespace autopack::cli
