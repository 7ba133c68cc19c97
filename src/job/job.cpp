#include "job/job.hpp"

#include "base/json.hpp"
#include "job/merge.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

using nlohmann::json;

namespace {

/// What flags and file together ask for.
JobKind kind_of(const JobFlags& flags, const Config* config, Problems& problems) {
  const auto file = config == nullptr ? JobKind::custom_job : config->kind;
  if (flags.as == "custom-job" && file != JobKind::custom_job) {
    problems.push_back({.message = fmt::format("`{}` is a {}, not a custom job", config->origin,
                                               resource_name(file)),
                        .origin = "`--as`"});
  }
  const bool pipeline = flags.as == "training-pipeline" || is_pipeline(file);
  const bool tunes = flags.tune || is_tuning(file);
  if (pipeline) {
    return tunes ? JobKind::tuning_pipeline : JobKind::training_pipeline;
  }
  return tunes ? JobKind::tuning_job : JobKind::custom_job;
}

Draft draft_of(const JobFlags& flags,
               const Config* config,
               const Location& location,
               Problems& problems) {
  Draft draft{.body = std::make_shared<json>(json::object())};
  if (config != nullptr) {
    *draft.body = *config->body;
    draft.origins = config->origins;
  }
  draft.kind = kind_of(flags, config, problems);
  draft.origins["project"] = location.project_origin;
  draft.origins["region"] = location.region_origin;
  return draft;
}

/// An empty list is as good as none; gcloud leaves it out.
void drop_empty_lists(json& value) {
  if (value.is_object()) {
    for (auto item = value.begin(); item != value.end();) {
      drop_empty_lists(*item);
      item = item->is_array() && item->empty() ? value.erase(item) : std::next(item);
    }
  } else if (value.is_array()) {
    for (auto& item : value) {
      drop_empty_lists(item);
    }
  }
}

/// With an error its warnings: what looks misspelt is mended along with it.
void throw_with_warnings(const Problems& problems, ErrorKind kind) {
  if (std::any_of(problems.begin(), problems.end(),
                  [](const Problem& p) { return p.severity == Problem::Severity::error; })) {
    throw Error(kind, problems);
  }
}

}  // namespace

bool Draft::is_packaged(std::size_t pool) const {
  return std::find(packaged_pools.begin(), packaged_pools.end(), pool) != packaged_pools.end();
}

std::string pool_path(std::size_t index) {
  return fmt::format("jobSpec.workerPoolSpecs[{}]", index);
}

JobSpec make_job(const JobFlags& flags,
                 const Config* config,
                 const Location& location,
                 const CheckOptions& options,
                 Problems earlier) {
  auto problems = std::move(earlier);
  auto draft = draft_of(flags, config, location, problems);
  merge_pools(flags, draft, problems);
  merge_fields(flags, location, draft, problems);
  merge_study(flags.study, draft, problems);
  merge_pipeline(flags.pipeline, draft, problems);
  check_pool_flags(flags, problems);
  check_draft(draft, location, options, problems);
  throw_with_warnings(problems, ErrorKind::usage);
  for (const auto* part : {"jobSpec", "studySpec"}) {
    if (draft.body->contains(part)) {
      drop_empty_lists((*draft.body)[part]);
    }
  }
  auto name = draft.body->value("displayName", "");
  return {.body = std::move(draft.body),
          .kind = draft.kind,
          .packaged_pools = std::move(draft.packaged_pools),
          .packaging = std::move(draft.packaging),
          .display_name = std::move(name),
          .warnings = std::move(problems)};
}

json with_image(const JobSpec& job, const std::string& image) {
  auto body = *job.body;
  for (const auto pool : job.packaged_pools) {
    body["jobSpec"]["workerPoolSpecs"][pool]["containerSpec"]["imageUri"] = image;
  }
  return resource_of(std::move(body), job.kind);
}

}  // namespace autopack::job
