#include "cli/submission_request.hpp"

#include "base/text.hpp"
#include "cli/pool_options.hpp"
#include "job/make_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace autopack::cli {

namespace {

void add_hypertune(std::vector<job::PoolFlags>& pools,
                   std::vector<job::PoolFlags>::iterator packaged,
                   Problems& problems) {
  if (packaged == pools.end()) {
    problems.push_back(
        {.message = "nothing is packaged that cloudml-hypertune could be added to",
         .origin = "`--with-hypertune`",
         .hints = {"name the program, `--script=FILE`, or local-package-path=. in the pool"}});
    return;
  }
  if (!packaged->requirements) {
    packaged->requirements.emplace();
  }
  packaged->requirements->emplace_back("cloudml-hypertune");
}

/// Adds the arguments after `--`, following those of `--args`.
void add_program_arguments(const Session& session, job::JobFlags& flags) {
  const auto& typed = session.program_arguments;
  if (typed.empty()) {
    return;
  }
  if (!flags.args) {
    flags.args.emplace();
    flags.origins.emplace("--args", job::Origin::setting("the arguments after `--`"));
  }
  flags.args->insert(flags.args->end(), typed.begin(), typed.end());
}

/// Refuses flags for a single pool if the file's job has several.
void refuse_only_pool(const pipeline::SubmissionRequest& request, Problems& problems) {
  const auto& pools = request.flags.pools;
  const auto in_file = request.config ? request.config->job.spec.pools.size() : 0;
  if (in_file < 2 || pools.size() != 1) {
    return;
  }
  for (const auto& [key, origin] : pools.front().origins) {
    problems.push_back(
        {.message = fmt::format("`--{}` is for the only pool, and `{}` has {}: it would be for the "
                                "first",
                                key, printable(request.config->name), in_file),
         .origin = to_string(origin),
         .hints = {fmt::format("`--worker-pool-spec={}=...` is for the first of them", key)}});
  }
}

/// A resumed study runs the program with which it started, even if `autopack.yaml` has changed.
void resume(const Session& session, const JobOptions& job, pipeline::SubmissionRequest& request) {
  const auto& [text, name] = *job.resumed;
  request.config = job::parse_config(text, name, request.earlier);
  auto typed = std::vector<std::string>{"--config", "--worker-pool-spec", "--with-hypertune"};
  for (const auto& pool : request.flags.pools) {
    for (const auto& [key, origin] : pool.origins) {
      typed.push_back("--" + key);
    }
  }
  for (const auto& flag : typed) {
    if (session.flags.is_typed(flag)) {
      request.earlier.push_back(
          {.message = fmt::format("`{}` only applies to a new study", flag),
           .origin = "`--resume`",
           .hints = {"leave it out: the study continues with the program that it started with"}});
    }
  }
  request.flags.pools.clear();
}

/// Adds the project to the first pool, unless the pool runs something else.
void add_project(std::vector<job::PoolFlags>& pools, const pipeline::SubmissionRequest& request) {
  if (pools.empty()) {
    pools.emplace_back();
  }
  auto& pool = pools.front();
  const bool is_other = pool.container_image_uri || !request.flags.python_package_uris.empty();
  if (!is_other && !pool.local_package_path) {
    pool.local_package_path = ".";
  }
}

/// Adds a value from gcloud's configuration or variables.
void add_setting(const char* what,
                 const std::optional<std::string>& value,
                 const std::optional<job::Origin>& origin,
                 std::vector<project::Inferred>& inferred) {
  if (value && origin && origin->kind == job::Origin::Kind::setting) {
    inferred.push_back(
        {.what = what, .value = *value, .reason = origin->name, .flag = "--" + std::string{what}});
  }
}

/// Reads the lists of regions and accelerators; flags and location get the first of each.
void read_candidates(const Session& session, pipeline::SubmissionRequest& request) {
  auto& pools = request.flags.pools;
  const auto origin = session.flags.origin("--accelerator-type");
  auto accelerators = session.flags.listed("--accelerator-type");
  const bool is_used = origin && !pools.empty() && pools.front().accelerator_type &&
                       pools.front().origin_of("accelerator-type") == origin;
  if (is_used && !accelerators.empty()) {
    pools.front().accelerator_type = accelerators.front();
  } else {
    accelerators.clear();
  }
  const auto& location = request.location;
  job::CandidateLists lists{.regions = location.regions, .accelerators = std::move(accelerators)};
  if (lists.regions.empty() && location.region) {
    lists.regions = {*location.region};
  }
  if (lists.has_several() && !lists.regions.empty()) {
    request.candidates = std::move(lists);
  }
  request.infers_machine = !request.config && (pools.empty() || !pools.front().machine_type);
}

/// Infers values that neither the flags of a job nor a project set.
void infer(pipeline::SubmissionRequest& request, bool on_cluster) {
  auto& pool = request.flags.pools.front();
  auto& inferred = request.inferred;
  const bool has_accelerator = pool.accelerator_type.has_value();
  if (!pool.machine_type && !on_cluster) {
    pool.machine_type = job::usual_machine(pool);
    inferred.push_back({.what = "machine",
                        .value = *pool.machine_type,
                        .reason = has_accelerator ? "the smallest that supports the accelerators"
                                                  : "4 CPUs, 15 GB, no GPU",
                        .flag = "--machine-type"});
  }
  if (!request.flags.display_name) {
    inferred.push_back({.what = "display name",
                        .value = *request.flags.default_display_name,
                        .reason = "the directory's",
                        .flag = "--display-name"});
  }
  if (on_cluster) {
    return;
  }
  add_setting("region", request.location.region, request.location.region_origin, inferred);
  add_setting("project", request.location.project, request.location.project_origin, inferred);
}

}  // namespace

void add_skip_checks_flag(FlagSet& flags, std::string& into) {
  flags.toggle("--skip-checks", "program|service", into,
               "skip all checks; =program: send a program that fails; =service: ask no service");
}

SkippedChecks skipped_checks(const std::string& value) {
  return {.program = !value.empty() && value != "service",
          .service = !value.empty() && value != "program"};
}

pipeline::SubmissionRequest read_submission_request(const Session& session,
                                                    const JobOptions& job,
                                                    const BuildOptions& build,
                                                    const RequestReading& how) {
  pipeline::SubmissionRequest request{
      .checks = {.skip_tables = how.checks.service || how.on_cluster,
                 .on_cluster = how.on_cluster,
                 .today = today()}};
  request.flags = job_flags(job, session.flags, request.earlier);
  request.flags.tune = job.tunes;
  request.flags.own_dockerfile = build.dockerfile.has_value();
  add_program_arguments(session, request.flags);
  if (job.resumed) {
    resume(session, job, request);
  } else {
    request.config = read_config(session.flags.given("--config"), build.source,
                                 session.services.environment, request.earlier);
  }
  auto& pools = request.flags.pools;
  const bool is_open = !names_pools(session.flags);
  const bool infers = is_open && !build.no_infer && !request.config;
  const bool says_project = is_open && !pools.empty() && pools.front().names_project();
  request.location = find_location(session, infers, Regions::several);
  request.flags.infers = infers || (says_project && !build.no_infer);
  if (!session.flags.origin("--worker-pool-spec")) {
    refuse_only_pool(request, request.earlier);
  }
  if (infers || says_project) {
    add_project(pools, request);
  }
  const auto packaged = std::ranges::find_if(
      pools, [](const job::PoolFlags& pool) { return pool.local_package_path.has_value(); });
  if (job.with_hypertune && !job.resumed) {
    add_hypertune(pools, packaged, request.earlier);
  }
  std::filesystem::path directory = ".";
  if (packaged != pools.end()) {
    request.package =
        package_request(*packaged, request.flags, build, session.services.environment);
    request.package->reports_git =
        request.package->reports_git || session.format.kind != OutputFormat::Kind::text;
    request.package->infers = request.flags.infers;
    if (const auto origin = to_string(session.flags.origin("--env"))) {
      request.package->project.given_at["env"] = *origin;
    }
    request.package->refuses_certain = !how.checks.program;
    request.output_image = non_empty(packaged->output_image_uri.value_or(""));
    directory = request.package->project.directory;
  }
  request.flags.default_display_name = directory_name(directory);
  read_candidates(session, request);
  if (infers) {
    infer(request, how.on_cluster);
  }
  return request;
}

}  // namespace autopack::cli
