#pragma once

#include "base/error.hpp"
#include "job/kind.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// One `--worker-pool-spec` as typed, keys checked and split. Absent = not
/// typed.
struct PoolFlags {
  std::optional<std::string> machine_type{};
  std::optional<std::int64_t> replica_count{};
  std::optional<std::string> accelerator_type{};
  std::optional<std::int64_t> accelerator_count{};
  std::optional<std::string> container_image_uri{};
  std::optional<std::string> executor_image_uri{};
  std::optional<std::string> python_module{};
  std::optional<std::string> script{};
  std::optional<std::string> local_package_path{};
  std::optional<std::string> output_image_uri{};
  std::optional<std::vector<std::string>> requirements{};
  std::optional<std::vector<std::string>> extra_packages{};
  std::optional<std::vector<std::string>> extra_dirs{};
  std::optional<std::vector<std::string>> system_packages{};
  std::optional<std::string> launcher{};
  std::optional<std::vector<std::string>> requirements_file{};
  std::optional<std::vector<std::string>> extra{};
  std::optional<std::vector<std::string>> group{};
  std::optional<std::vector<std::string>> build_env{};  ///< `NAME=VALUE`
  std::optional<std::vector<std::string>> include{};
  std::optional<std::vector<std::string>> exclude{};
  std::string origin{};  ///< "`--worker-pool-spec` number 2"

  /// True when no key was typed: a placeholder that leaves its pool to the file, or empty.
  bool empty() const;
};

/// Splits one value of the flag (`,` between keys, `;` inside lists, `^D^` changes `,`). Unknown
/// keys and malformed parts are added to `problems` with the nearest key; what can be read is
/// returned.
PoolFlags parse_pool(std::string_view value, const std::string& origin, Problems& problems);

/// What the user typed of a study and its trials.
struct StudyFlags {
  std::vector<std::string> metrics{};     ///< `accuracy:maximize`
  std::vector<std::string> parameters{};  ///< `lr:double:1e-5..1e-1:log`
  std::optional<std::int64_t> max_trial_count{};
  std::optional<std::int64_t> parallel_trial_count{};
  std::optional<std::int64_t> max_failed_trial_count{};
  std::string algorithm{};              ///< `grid-search`, `random-search`
  std::string measurement_selection{};  ///< `best`, `last`
  std::string early_stopping{};         ///< `median`, `decay-curve`, `convex`
};

/// What the user typed of a training pipeline, besides its task.
struct PipelineFlags {
  std::string dataset_id{};
  std::string model_id{};
  std::string parent_model{};
  std::string model_display_name{};
  std::string model_description{};
  std::string model_version_description{};
  std::string model_artifact_uri{};
  std::string model_image_uri{};
  std::string model_predict_route{};
  std::string model_health_route{};
  std::vector<std::string> model_ports{};
  std::vector<std::string> model_version_aliases{};
  std::vector<std::pair<std::string, std::string>> model_env{};
  std::vector<std::pair<std::string, std::string>> model_labels{};
};

/// What the user typed for a job, besides packaging. Empty or absent = not typed.
struct JobFlags {
  std::string display_name{};
  /// Name of the job when neither flag nor file has one: the directory's.
  std::string fallback_display_name{};
  std::vector<PoolFlags> pools{};
  std::optional<std::vector<std::string>> command{};
  std::optional<std::vector<std::string>> args{};
  std::vector<std::string> python_package_uris{};
  std::vector<std::pair<std::string, std::string>> labels{};
  std::vector<std::pair<std::string, std::string>> env{};
  std::string network{};
  std::string service_account{};
  std::string persistent_resource_id{};
  std::optional<bool> enable_web_access{};
  std::optional<bool> enable_dashboard_access{};
  std::string kms_key{};  ///< whole resource name or key id with the next three
  std::string kms_keyring{};
  std::string kms_location{};
  std::string kms_project{};
  std::string timeout{};   ///< `3600s`, `2h`, `90m`, `7d`
  std::string strategy{};  ///< SPOT, FLEX_START, STANDARD, ...
  std::string max_wait_duration{};
  std::optional<bool> restart_on_worker_restart{};
  std::optional<bool> disable_retries{};
  std::string base_output_dir{};
  std::string tensorboard{};
  std::string boot_disk_type{};
  std::optional<std::int64_t> boot_disk_size{};  ///< GB
  std::string tpu_topology{};
  std::string gpu_partition_size{};
  std::vector<std::string> nfs_mounts{};     ///< `server=...,path=...,mount-point=...`
  std::vector<std::string> lustre_mounts{};  ///< `instance-ip=...,volume-handle=...,...`
  std::string reservation_affinity{};        ///< `reservation-affinity-type=any`
  std::string network_attachment{};          ///< of the PSC interface
  std::vector<std::string> dns_peerings{};   ///< `domain=...,target-project=...,...`
  std::vector<std::string> reserved_ip_ranges{};
  std::vector<std::string> models{};
  std::string experiment{};
  std::string experiment_run{};
  std::string protected_artifact_location{};
  bool tune{false};  ///< the command is `tune`
  std::string as{};  ///< `custom-job`, `training-pipeline`; empty: as the file says
  StudyFlags study{};
  PipelineFlags pipeline{};
  /// `--dockerfile` is given: the pool names no entry and no dependencies, an executor is optional.
  bool own_dockerfile{false};
};

/// Where a job goes. Empty for a submitter that needs none.
struct Location {
  std::string project{};
  std::string region{};
  std::string project_origin{};  ///< for messages: "`--project`"
  std::string region_origin{};
};

/// Where each value of a job came from: "`--args`", "`job.yaml` line 12"; keys are paths such as
/// `jobSpec.workerPoolSpecs[0].replicaCount`.
using Origins = std::map<std::string, std::string, std::less<>>;

/// A `--config` file in the API's names and JSON types: a CustomJob, whose `jobSpec` is also the
/// trial job of a tuning job and the input of a pipeline's task, with what those have besides.
struct Config {
  std::shared_ptr<const nlohmann::json> body{};
  JobKind kind{JobKind::custom_job};
  Origins origins{};
  std::string origin{};      ///< the file's name, for messages
  std::string printed_by{};  ///< the command whose output it is; empty for a file on the disk
};

/// Reads a `--config` file's text, YAML or JSON: a CustomJobSpec, CustomJob,
/// HyperparameterTuningJob, StudySpec or TrainingPipeline, snake_case accepted. Unknown keys and
/// values of a wrong type are problems with line and nearest name; what can be read is returned.
/// `name` is the file's as typed, `-` for standard input; `printed_by` as in Config.
Config parse_config(std::string_view text,
                    const std::string& name,
                    Problems& problems,
                    const std::string& printed_by = {});

struct CheckOptions {
  bool skip_tables{false};  ///< `--skip-checks`: no tables of service facts
  std::string today{};      ///< `2026-11-20`, for images past their end; empty = not checked
};

/// A job ready to be sent.
struct JobSpec {
  std::shared_ptr<const nlohmann::json> body{};  ///< in the form of Config
  JobKind kind{JobKind::custom_job};
  /// Pools (by index) whose image is the packaged one; their `imageUri` is still empty in `body`.
  std::vector<std::size_t> packaged_pools{};
  std::optional<PoolFlags> packaging{};  ///< the pool that is packaged, when one is
  std::string display_name{};
  Problems warnings{};
};

/// Flags and file (may be null) merged by pool, flags winning key by key, and checked: every rule
/// that can be checked offline. All findings at once as Error(usage),
/// together with the errors among `earlier`, the findings of parse_pool and parse_config.
JobSpec make_job(const JobFlags& flags,
                 const Config* config,
                 const Location& location,
                 const CheckOptions& options,
                 Problems earlier = {});

/// The resource to create, with `image` in every packaged pool.
nlohmann::json with_image(const JobSpec& job, const std::string& image);

}  // namespace autopack::job
