#include "job/kind.hpp"

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

}  // namespace autopack::job
