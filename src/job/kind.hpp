#pragma once

#include <optional>
#include <string_view>

namespace autopack::job {

/// The kind of resource of a job. A pipeline contains a custom task or a tuning task.
enum class JobKind { custom_job, tuning_job, training_pipeline, tuning_pipeline };

/// Returns true if it has a study, whose trials are custom jobs.
bool is_tuning(JobKind kind);
bool is_pipeline(JobKind kind);

/// Returns `CustomJob`, `HyperparameterTuningJob` or `TrainingPipeline`.
std::string_view resource_name(JobKind kind);

/// Returns the collection for new jobs: `customJobs`, `hyperparameterTuningJobs` or
/// `trainingPipelines`.
std::string_view collection_of(JobKind kind);

/// Returns `trainingTaskDefinition` of a pipeline; nothing for other kinds.
std::optional<std::string_view> task_definition(JobKind kind);

}  // namespace autopack::job
