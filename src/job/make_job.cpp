#include "job/make_job.hpp"

#include "job/merge.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::job {

namespace {

/// Returns the kind that flags and file request together.
JobKind kind_of(const JobFlags& flags, const Config* config, Problems& problems) {
  const auto file = config == nullptr ? JobKind::custom_job : config->job.kind;
  if (flags.as == "custom-job" && file != JobKind::custom_job) {
    problems.push_back({.message = fmt::format("`{}` is a {}, not a custom job", config->name,
                                               resource_name(file)),
                        .origin = to_string(flags.origin("--as"))});
  }
  const bool pipeline = flags.as == "training-pipeline" || is_pipeline(file);
  const bool tunes = flags.tune || is_tuning(file);
  if (pipeline) {
    return tunes ? JobKind::tuning_pipeline : JobKind::training_pipeline;
  }
  return tunes ? JobKind::tuning_job : JobKind::custom_job;
}

Job job_of(const JobFlags& flags,
           const Config* config,
           const Location& location,
           Problems& problems) {
  Job job = config == nullptr ? Job{} : config->job;
  job.kind = kind_of(flags, config, problems);
  if (location.project_origin) {
    job.origins["project"] = *location.project_origin;
  }
  if (location.region_origin) {
    job.origins["region"] = *location.region_origin;
  }
  return job;
}

/// Adds the warnings to an error, so that the user can fix misspelt names at the same time.
void throw_with_warnings(const Problems& problems, ErrorKind kind) {
  if (has_errors(problems)) {
    throw Error(kind, problems);
  }
}

}  // namespace

CheckedJob make_job(const JobFlags& flags,
                    const Config* config,
                    const Location& location,
                    const CheckOptions& options,
                    Problems earlier) {
  auto problems = std::move(earlier);
  auto job = job_of(flags, config, location, problems);
  merge_pools(flags, job, problems);
  merge_fields(flags, location, job, problems);
  merge_study(flags, job, problems);
  merge_pipeline(flags, job, problems);
  check_pool_flags(flags, problems);
  check_job(job, location, options, problems);
  throw_with_warnings(problems, ErrorKind::usage);
  return {.job = std::move(job), .warnings = std::move(problems)};
}

std::string display_name(const JobFlags& flags, const Config* config) {
  const auto of_file = config == nullptr ? std::nullopt : config->job.display_name;
  const auto name = (flags.display_name ? flags.display_name : of_file).value_or("");
  return name.empty() ? flags.default_display_name.value_or("") : name;
}

namespace {

constexpr std::string_view without_accelerator{"n1-standard-4"};

/// Supports every attachable accelerator; a smaller machine has too little memory for some of them.
constexpr std::string_view with_accelerator{"n1-standard-8"};

}  // namespace

std::string usual_machine(const PoolFlags& pool) {
  if (!pool.accelerator_type) {
    return std::string{without_accelerator};
  }
  const auto& type = *pool.accelerator_type;
  const auto count = pool.accelerator_count.value_or(1);
  const auto* const usual = tables::find_machine(with_accelerator);
  auto best = with_accelerator;
  if (usual != nullptr && tables::offers(usual->attachable, type, count)) {
    return std::string{best};
  }
  // Names of one family differ only in their number of CPUs.
  const auto is_smaller = [](std::string_view one, std::string_view other) {
    return std::pair{one.size(), one} < std::pair{other.size(), other};
  };
  bool has_found = false;
  for (const auto& machine : tables::machines()) {
    const bool fits = !machine.arm64 && tables::offers(machine.fixed, type, count);
    if (fits && (!has_found || is_smaller(machine.name, best))) {
      best = machine.name;
      has_found = true;
    }
  }
  return std::string{best};
}

}  // namespace autopack::job
