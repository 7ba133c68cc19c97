#pragma once

#include "job/message.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

/// A job of the legacy AI Platform Training, with the names of its API.
namespace autopack::job {

struct LegacyAccelerator {
  Text type{};
  Number count{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("type", &LegacyAccelerator::type),
                      field("count", &LegacyAccelerator::count, NumberForm::text)};
  }
};

struct LegacyDisk {
  Text type{};
  Number size{};  ///< GB
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("bootDiskType", &LegacyDisk::type),
                      field("bootDiskSizeGb", &LegacyDisk::size)};
  }
};

/// The program of the replicas with one role.
struct LegacyReplica {
  std::optional<LegacyAccelerator> accelerator{};
  std::optional<std::vector<std::string>> args{};
  std::optional<std::vector<std::string>> command{};
  std::optional<LegacyDisk> disk{};
  Text image{};
  Text tensorflow_version{};  ///< of a TPU
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("acceleratorConfig", &LegacyReplica::accelerator),
                      field("containerArgs", &LegacyReplica::args),
                      field("containerCommand", &LegacyReplica::command),
                      field("diskConfig", &LegacyReplica::disk),
                      field("imageUri", &LegacyReplica::image),
                      field("tpuTfVersion", &LegacyReplica::tensorflow_version)};
  }
};

struct LegacyParameter {
  Text name{};
  Text type{};
  Real least{};
  Real most{};
  std::optional<std::vector<std::string>> categories{};
  std::optional<std::vector<double>> discrete{};
  Text scale{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("parameterName", &LegacyParameter::name),
                      field("type", &LegacyParameter::type),
                      field("minValue", &LegacyParameter::least),
                      field("maxValue", &LegacyParameter::most),
                      field("categoricalValues", &LegacyParameter::categories),
                      field("discreteValues", &LegacyParameter::discrete),
                      field("scaleType", &LegacyParameter::scale)};
  }
};

struct LegacyStudy {
  Text algorithm{};
  Truth stops_early{};
  Text goal{};
  Text metric{};
  Number max_failed_trials{};
  Number parallel_trials{};
  Number max_trials{};
  std::vector<LegacyParameter> parameters{};
  Text previous_job{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("algorithm", &LegacyStudy::algorithm),
                      field("enableTrialEarlyStopping", &LegacyStudy::stops_early),
                      field("goal", &LegacyStudy::goal),
                      field("hyperparameterMetricTag", &LegacyStudy::metric),
                      field("maxFailedTrials", &LegacyStudy::max_failed_trials),
                      field("maxParallelTrials", &LegacyStudy::parallel_trials),
                      field("maxTrials", &LegacyStudy::max_trials),
                      field("params", &LegacyStudy::parameters),
                      field("resumePreviousJobId", &LegacyStudy::previous_job)};
  }
};

struct LegacyScheduling {
  Text longest_run{};
  Text longest_wait{};
  Number priority{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("maxRunningTime", &LegacyScheduling::longest_run),
                      field("maxWaitTime", &LegacyScheduling::longest_wait),
                      field("priority", &LegacyScheduling::priority)};
  }
};

struct LegacyEncryption {
  Text key_name{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("kmsKeyName", &LegacyEncryption::key_name)};
  }
};

struct LegacyInput {
  Text scale_tier{};
  Text master_type{};
  Text worker_type{};
  Text parameter_server_type{};
  Text evaluator_type{};
  Number worker_count{};
  Number parameter_server_count{};
  Number evaluator_count{};
  std::optional<LegacyReplica> master{};
  std::optional<LegacyReplica> worker{};
  std::optional<LegacyReplica> parameter_server{};
  std::optional<LegacyReplica> evaluator{};
  std::optional<std::vector<std::string>> args{};
  std::optional<std::vector<std::string>> package_uris{};
  Text module{};
  Text region{};
  Text runtime_version{};
  Text python_version{};
  Text job_directory{};
  Text network{};
  Text service_account{};
  Truth enable_web_access{};
  Truth use_chief{};
  std::optional<LegacyEncryption> encryption{};
  std::optional<LegacyScheduling> scheduling{};
  std::optional<LegacyStudy> study{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{
        field("scaleTier", &LegacyInput::scale_tier),
        field("masterType", &LegacyInput::master_type),
        field("workerType", &LegacyInput::worker_type),
        field("parameterServerType", &LegacyInput::parameter_server_type),
        field("evaluatorType", &LegacyInput::evaluator_type),
        field("workerCount", &LegacyInput::worker_count, NumberForm::text),
        field("parameterServerCount", &LegacyInput::parameter_server_count, NumberForm::text),
        field("evaluatorCount", &LegacyInput::evaluator_count, NumberForm::text),
        field("masterConfig", &LegacyInput::master),
        field("workerConfig", &LegacyInput::worker),
        field("parameterServerConfig", &LegacyInput::parameter_server),
        field("evaluatorConfig", &LegacyInput::evaluator),
        field("args", &LegacyInput::args),
        field("packageUris", &LegacyInput::package_uris),
        field("pythonModule", &LegacyInput::module),
        field("region", &LegacyInput::region),
        field("runtimeVersion", &LegacyInput::runtime_version),
        field("pythonVersion", &LegacyInput::python_version),
        field("jobDir", &LegacyInput::job_directory),
        field("network", &LegacyInput::network),
        field("serviceAccount", &LegacyInput::service_account),
        field("enableWebAccess", &LegacyInput::enable_web_access),
        field("useChiefInTfConfig", &LegacyInput::use_chief),
        field("encryptionConfig", &LegacyInput::encryption),
        field("scheduling", &LegacyInput::scheduling),
        field("hyperparameters", &LegacyInput::study)};
  }
};

struct LegacyJob {
  Text id{};
  std::optional<std::map<std::string, std::string>> labels{};
  LegacyInput input{};
  Bag others{};

  static constexpr auto fields() {
    return std::tuple{field("jobId", &LegacyJob::id), field("labels", &LegacyJob::labels),
                      field("trainingInput", &LegacyJob::input)};
  }
};

}  // namespace autopack::job
