#pragma once

#include "job/message.hpp"
#include "job/origin.hpp"
#include "job/pool.hpp"
#include "job/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

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

struct Scheduling {
  Text timeout{};  ///< in the API's form of durations: `7200s`
  Truth restart_on_worker_restart{};
  Text strategy{};
  Truth disable_retries{};
  Text max_wait{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("timeout", &Scheduling::timeout),
                      field("restartJobOnWorkerRestart", &Scheduling::restart_on_worker_restart),
                      field("strategy", &Scheduling::strategy),
                      field("disableRetries", &Scheduling::disable_retries),
                      field("maxWaitDuration", &Scheduling::max_wait)};
  }
};

struct DnsPeering {
  Text domain{};
  Text target_project{};
  Text target_network{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("domain", &DnsPeering::domain),
                      field("targetProject", &DnsPeering::target_project),
                      field("targetNetwork", &DnsPeering::target_network)};
  }
};

/// Private Service Connect.
struct PscInterface {
  Text network_attachment{};
  std::vector<DnsPeering> dns_peerings{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("networkAttachment", &PscInterface::network_attachment),
                      field("dnsPeeringConfigs", &PscInterface::dns_peerings)};
  }
};

struct Directory {
  Text uri{};
  Bag others{};

  static constexpr auto fields() { return std::tuple{field("outputUriPrefix", &Directory::uri)}; }
};

struct Encryption {
  Text key_name{};
  Bag others{};

  static constexpr auto fields() { return std::tuple{field("kmsKeyName", &Encryption::key_name)}; }
};

/// The work to run: a custom job, a trial of a tuning job, or the task of a pipeline.
struct Spec {
  std::vector<Pool> pools{};
  std::optional<Scheduling> scheduling{};
  Text service_account{};
  Text network{};
  std::vector<std::string> reserved_ip_ranges{};
  std::optional<PscInterface> psc_interface{};
  std::optional<Directory> output{};
  Text tensorboard{};
  Truth enable_web_access{};
  Truth enable_dashboard_access{};
  Text experiment{};
  Text experiment_run{};
  std::vector<std::string> models{};
  Text persistent_resource{};
  Text protected_artifact_location{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("workerPoolSpecs", &Spec::pools),
                      field("scheduling", &Spec::scheduling),
                      field("serviceAccount", &Spec::service_account),
                      field("network", &Spec::network),
                      field("reservedIpRanges", &Spec::reserved_ip_ranges),
                      field("pscInterfaceConfig", &Spec::psc_interface),
                      field("baseOutputDirectory", &Spec::output),
                      field("tensorboard", &Spec::tensorboard),
                      field("enableWebAccess", &Spec::enable_web_access),
                      field("enableDashboardAccess", &Spec::enable_dashboard_access),
                      field("experiment", &Spec::experiment),
                      field("experimentRun", &Spec::experiment_run),
                      field("models", &Spec::models),
                      field("persistentResourceId", &Spec::persistent_resource),
                      field("protectedArtifactLocationId", &Spec::protected_artifact_location)};
  }
};

/// A port of the container that serves a model.
struct Port {
  Number number{};
  Bag others{};

  static constexpr auto fields() { return std::tuple{field("containerPort", &Port::number)}; }
};

struct ServingContainer {
  Text image{};
  Text predict_route{};
  Text health_route{};
  std::optional<std::vector<Port>> ports{};
  std::optional<std::vector<Variable>> env{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("imageUri", &ServingContainer::image),
                      field("predictRoute", &ServingContainer::predict_route),
                      field("healthRoute", &ServingContainer::health_route),
                      field("ports", &ServingContainer::ports),
                      field("env", &ServingContainer::env)};
  }
};

/// The model that a pipeline uploads.
struct Model {
  Text display_name{};
  Text description{};
  Text version_description{};
  Text artifact_uri{};
  std::optional<ServingContainer> container{};
  std::optional<std::vector<std::string>> version_aliases{};
  std::optional<std::map<std::string, std::string>> labels{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("displayName", &Model::display_name),
                      field("description", &Model::description),
                      field("versionDescription", &Model::version_description),
                      field("artifactUri", &Model::artifact_uri),
                      field("containerSpec", &Model::container),
                      field("versionAliases", &Model::version_aliases),
                      field("labels", &Model::labels)};
  }
};

/// The parts of a dataset, as fractions of the whole.
struct Split {
  Real training{};
  Real validation{};
  Real test{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("trainingFraction", &Split::training),
                      field("validationFraction", &Split::validation),
                      field("testFraction", &Split::test)};
  }
};

/// The dataset that a pipeline trains on.
struct InputData {
  Text dataset_id{};
  Text saved_query_id{};
  Text annotation_schema_uri{};
  std::optional<Split> fractions{};
  std::optional<Split> stratified{};
  std::optional<Split> by_time{};
  std::optional<Bag> to_storage{};
  std::optional<Bag> to_bigquery{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("datasetId", &InputData::dataset_id),
                      field("savedQueryId", &InputData::saved_query_id),
                      field("annotationSchemaUri", &InputData::annotation_schema_uri),
                      field("fractionSplit", &InputData::fractions),
                      field("stratifiedSplit", &InputData::stratified),
                      field("timestampSplit", &InputData::by_time),
                      field("gcsDestination", &InputData::to_storage),
                      field("bigqueryDestination", &InputData::to_bigquery)};
  }
};

/// A job of any kind, read once from flags and files and written once as JSON. Parts of other kinds
/// are absent.
struct Job {
  Text display_name{};
  Spec spec{};
  std::optional<std::map<std::string, std::string>> labels{};
  std::optional<Encryption> encryption{};
  std::optional<Study> study{};
  Number max_trials{};
  Number parallel_trials{};
  Number max_failed_trials{};
  Text model_id{};
  Text parent_model{};
  std::optional<Model> model{};
  std::optional<InputData> data{};
  Bag others{};
  JobKind kind{JobKind::custom_job};
  Origins origins{};

  static constexpr auto fields() {
    return std::tuple{field("displayName", &Job::display_name),
                      field("jobSpec", &Job::spec),
                      field("labels", &Job::labels),
                      field("encryptionSpec", &Job::encryption),
                      field("studySpec", &Job::study),
                      field("maxTrialCount", &Job::max_trials),
                      field("parallelTrialCount", &Job::parallel_trials),
                      field("maxFailedTrialCount", &Job::max_failed_trials),
                      field("modelId", &Job::model_id),
                      field("parentModel", &Job::parent_model),
                      field("modelToUpload", &Job::model),
                      field("inputDataConfig", &Job::data)};
  }
};

/// Returns `jobSpec.workerPoolSpecs[INDEX]`.
std::string pool_path(std::size_t index);

/// Returns the job with `image` in every packaged pool.
Job with_image(Job job, const std::string& image);

/// Returns the resource to create, in the form of its kind.
nlohmann::json resource(const Job& job);

}  // namespace autopack::job
