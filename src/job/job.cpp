#include "job/job.hpp"

#include "base/json.hpp"
#include "job/message_json.hpp"

#include <fmt/format.h>

#include <array>

namespace autopack::job {

bool is_tuning(JobKind kind) {
  return kind == JobKind::tuning_job || kind == JobKind::tuning_pipeline;
}

bool is_pipeline(JobKind kind) {
  return kind == JobKind::training_pipeline || kind == JobKind::tuning_pipeline;
}

std::string_view resource_name(JobKind kind) {
  if (is_pipeline(kind)) {
    return "TrainingPipeline";
  }
  return kind == JobKind::tuning_job ? "HyperparameterTuningJob" : "CustomJob";
}

std::string_view collection_of(JobKind kind) {
  if (is_pipeline(kind)) {
    return "trainingPipelines";
  }
  return kind == JobKind::tuning_job ? "hyperparameterTuningJobs" : "customJobs";
}

std::optional<std::string_view> task_definition(JobKind kind) {
  switch (kind) {
    case JobKind::training_pipeline:
      return "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml";
    case JobKind::tuning_pipeline:
      return "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
             "hyperparameter_tuning_task_1.0.0.yaml";
    case JobKind::custom_job:
    case JobKind::tuning_job: break;
  }
  return std::nullopt;
}

using nlohmann::json;

namespace {

/// The keys of a tuning job, and of the inputs of a tuning task.
constexpr std::array tuning_keys{std::string_view{"studySpec"}, std::string_view{"maxTrialCount"},
                                 std::string_view{"parallelTrialCount"},
                                 std::string_view{"maxFailedTrialCount"}};

constexpr std::string_view spec_key{"jobSpec"};
constexpr std::string_view trial_key{"trialJobSpec"};
constexpr std::string_view definition_key{"trainingTaskDefinition"};
constexpr std::string_view inputs_key{"trainingTaskInputs"};

/// Removes `key` from `from` and returns its value.
json take(json& from, std::string_view key) {
  const auto found = from.find(key);
  json value = std::move(*found);
  from.erase(found);
  return value;
}

json task_inputs(json& body, JobKind kind) {
  if (kind == JobKind::training_pipeline) {
    return take(body, spec_key);
  }
  auto inputs = json::object();
  inputs[trial_key] = take(body, spec_key);
  for (const auto key : tuning_keys) {
    if (body.contains(key)) {
      inputs[key] = take(body, key);
    }
  }
  return inputs;
}

}  // namespace

std::string pool_path(std::size_t index) {
  return fmt::format("jobSpec.workerPoolSpecs[{}]", index);
}

Job with_image(Job job, const std::string& image) {
  for (auto& pool : job.spec.pools) {
    if (pool.is_packaged) {
      ensure(pool.container).image = image;
      pool.is_packaged = false;
    }
  }
  return job;
}

json resource(const Job& job) {
  auto body = write_message(job);
  switch (job.kind) {
    case JobKind::custom_job: break;
    case JobKind::tuning_job: body[trial_key] = take(body, spec_key); break;
    case JobKind::training_pipeline:
    case JobKind::tuning_pipeline:
      body[inputs_key] = task_inputs(body, job.kind);
      body[definition_key] = *task_definition(job.kind);
      break;
  }
  return body;
}

}  // namespace autopack::job
