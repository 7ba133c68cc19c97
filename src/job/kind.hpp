#pragma once

#include <optional>
#include <string_view>

namespace autopack::job {

/// What a job is created as. A pipeline holds a custom task or a tuning task.
enum class JobKind { custom_job, tuning_job, training_pipeline, tuning_pipeline };

/// True when it has a study, whose trials are custom jobs.
bool is_tuning(JobKind kind);
bool is_pipeline(JobKind kind);

/// `CustomJob`, `HyperparameterTuningJob` or `TrainingPipeline`.
std::string_view resource_name(JobKind kind);

/// The collection that it is created in: `customJobs`, `hyperparameterTuningJobs` or
/// `trainingPipelines`.
std::string_view collection_of(JobKind kind);

/// `trainingTaskDefinition` of a pipeline; none for other kinds.
std::optional<std::string_view> task_definition(JobKind kind);

}  // namespace autopack::job
