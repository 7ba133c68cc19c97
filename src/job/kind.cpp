#include "job/kind.hpp"

#include "base/json.hpp"

#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

/// Of a tuning job, and of the inputs of a tuning task.
constexpr std::array tuning_keys{std::string_view{"studySpec"}, std::string_view{"maxTrialCount"},
                                 std::string_view{"parallelTrialCount"},
                                 std::string_view{"maxFailedTrialCount"}};

void move_key(json& from, std::string_view key, json& to, std::string_view new_key) {
  const auto found = from.find(key);
  if (found != from.end()) {
    json value = std::move(*found);
    from.erase(found);
    to[std::string{new_key}] = std::move(value);
  }
}

}  // namespace

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

std::string_view task_definition(JobKind kind) {
  switch (kind) {
    case JobKind::training_pipeline:
      return "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml";
    case JobKind::tuning_pipeline:
      return "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
             "hyperparameter_tuning_task_1.0.0.yaml";
    case JobKind::custom_job:
    case JobKind::tuning_job: break;
  }
  return {};
}

json resource_of(json body, JobKind kind) {
  if (kind == JobKind::custom_job) {
    return body;
  }
  if (kind == JobKind::tuning_job) {
    move_key(body, "jobSpec", body, "trialJobSpec");
    return body;
  }
  auto inputs = json::object();
  if (kind == JobKind::training_pipeline) {
    inputs = std::move(body["jobSpec"]);
    body.erase("jobSpec");
  } else {
    move_key(body, "jobSpec", inputs, "trialJobSpec");
    for (const auto key : tuning_keys) {
      move_key(body, key, inputs, key);
    }
  }
  body["trainingTaskDefinition"] = task_definition(kind);
  body["trainingTaskInputs"] = std::move(inputs);
  return body;
}

std::string_view collection_of(const json& resource) {
  if (resource.contains("trainingTaskDefinition")) {
    return "trainingPipelines";
  }
  return resource.contains("trialJobSpec") ? "hyperparameterTuningJobs" : "customJobs";
}

}  // namespace autopack::job
