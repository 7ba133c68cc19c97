#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

namespace {

using Group = FlagGroup;

Scheduling& scheduling(Job& job) {
  return ensure(job.spec.scheduling);
}

Machine& machine(Pool& pool) {
  return ensure(pool.machine);
}

Model& model(Job& job) {
  return ensure(job.model);
}

ServingContainer& serving(Job& job) {
  return ensure(model(job).container);
}

const std::array table{
    FieldFlag{Group::places, "--service-account", "EMAIL", "account the job runs as",
              "jobSpec.serviceAccount",
              TextField{[](Job& job) -> Text& { return job.spec.service_account; }}},
    FieldFlag{Group::places, "--timeout", "TIME", "maximum run time: 3600s, 90m, 2h, 7d",
              "jobSpec.scheduling.timeout",
              DurationField{[](Job& job) -> Text& { return scheduling(job).timeout; }}},
    FieldFlag{Group::places, "--network", "NAME", "VPC network to peer with", "jobSpec.network",
              TextField{[](Job& job) -> Text& { return job.spec.network; }}},
    FieldFlag{Group::places, "--persistent-resource-id", "ID",
              "persistent resource that runs the job", "jobSpec.persistentResourceId",
              TextField{[](Job& job) -> Text& { return job.spec.persistent_resource; }}},
    FieldFlag{Group::places, "--enable-web-access", std::nullopt,
              "allow a shell in the running job", "jobSpec.enableWebAccess",
              SwitchField{[](Job& job) -> Truth& { return job.spec.enable_web_access; }}},
    FieldFlag{Group::places, "--enable-dashboard-access", std::nullopt,
              "allow access to ports of the running job", "jobSpec.enableDashboardAccess",
              SwitchField{[](Job& job) -> Truth& { return job.spec.enable_dashboard_access; }}},
    FieldFlag{Group::limits, "--strategy", "NAME", "provisioning: STANDARD, SPOT, FLEX_START",
              "jobSpec.scheduling.strategy",
              TextField{[](Job& job) -> Text& { return scheduling(job).strategy; }}},
    FieldFlag{Group::limits, "--max-wait-duration", "TIME", "maximum wait for machines",
              "jobSpec.scheduling.maxWaitDuration",
              DurationField{[](Job& job) -> Text& { return scheduling(job).max_wait; }}},
    FieldFlag{
        Group::limits, "--restart-on-worker-restart", std::nullopt,
        "restart all workers if one restarts", "jobSpec.scheduling.restartJobOnWorkerRestart",
        SwitchField{[](Job& job) -> Truth& { return scheduling(job).restart_on_worker_restart; }}},
    FieldFlag{Group::limits, "--disable-retries", std::nullopt, "do not retry a failed job",
              "jobSpec.scheduling.disableRetries",
              SwitchField{[](Job& job) -> Truth& { return scheduling(job).disable_retries; }}},
    FieldFlag{Group::limits, "--base-output-dir", "GS_URI",
              "output directory, parent of AIP_MODEL_DIR",
              "jobSpec.baseOutputDirectory.outputUriPrefix",
              TextField{[](Job& job) -> Text& { return ensure(job.spec.output).uri; }}},
    FieldFlag{Group::limits, "--tensorboard", "NAME", "TensorBoard for the job's metrics",
              "jobSpec.tensorboard",
              TextField{[](Job& job) -> Text& { return job.spec.tensorboard; }}},
    FieldFlag{Group::machines, "--boot-disk-type", "TYPE",
              "type of the boot disk: pd-ssd, pd-standard", "diskSpec.bootDiskType",
              PoolTextField{[](Pool& pool) -> Text& { return ensure(pool.disk).type; }}},
    FieldFlag{Group::machines, "--boot-disk-size", "GB", "size of the boot disk",
              "diskSpec.bootDiskSizeGb",
              PoolNumberField{[](Pool& pool) -> Number& { return ensure(pool.disk).size; }}},
    FieldFlag{Group::machines, "--tpu-topology", "SHAPE", "TPU topology: 2x2x1",
              "machineSpec.tpuTopology",
              PoolTextField{[](Pool& pool) -> Text& { return machine(pool).tpu_topology; }}},
    FieldFlag{Group::machines, "--gpu-partition-size", "SIZE", "part of a GPU: 1g.10gb",
              "machineSpec.gpuPartitionSize",
              PoolTextField{[](Pool& pool) -> Text& { return machine(pool).gpu_partition_size; }}},
    FieldFlag{Group::network, "--network-attachment", "NAME",
              "Private Service Connect instead of --network",
              "jobSpec.pscInterfaceConfig.networkAttachment", TextField{[](Job& job) -> Text& {
                return ensure(job.spec.psc_interface).network_attachment;
              }}},
    FieldFlag{Group::records, "--reserved-ip-ranges", "NAME,...", "address ranges of the network",
              "jobSpec.reservedIpRanges", ListField{[](Job& job) -> std::vector<std::string>& {
                return job.spec.reserved_ip_ranges;
              }}},
    FieldFlag{Group::records, "--experiment", "NAME", "experiment that the job belongs to",
              "jobSpec.experiment",
              TextField{[](Job& job) -> Text& { return job.spec.experiment; }}},
    FieldFlag{Group::records, "--experiment-run", "NAME", "run of the experiment",
              "jobSpec.experimentRun",
              TextField{[](Job& job) -> Text& { return job.spec.experiment_run; }}},
    FieldFlag{Group::records, "--models", "NAME,...", "models that get a checkpoint of the job",
              "jobSpec.models",
              ListField{[](Job& job) -> std::vector<std::string>& { return job.spec.models; }}},
    FieldFlag{Group::records, "--protected-artifact-location", "REGION",
              "location of protected artifacts", "jobSpec.protectedArtifactLocationId",
              TextField{[](Job& job) -> Text& { return job.spec.protected_artifact_location; }}},
    FieldFlag{Group::model, "--model-display-name", "NAME",
              "upload the files in AIP_MODEL_DIR as this model", "modelToUpload.displayName",
              TextField{[](Job& job) -> Text& { return model(job).display_name; }}},
    FieldFlag{Group::model, "--model-image-uri", "IMAGE", "image that serves the model",
              "modelToUpload.containerSpec.imageUri",
              TextField{[](Job& job) -> Text& { return serving(job).image; }}},
    FieldFlag{Group::model, "--model-artifact-uri", "GS_URI",
              "directory of the model; default: below --base-output-dir",
              "modelToUpload.artifactUri",
              TextField{[](Job& job) -> Text& { return model(job).artifact_uri; }}},
    FieldFlag{Group::model, "--model-predict-route", "PATH", "path for predictions",
              "modelToUpload.containerSpec.predictRoute",
              TextField{[](Job& job) -> Text& { return serving(job).predict_route; }}},
    FieldFlag{Group::model, "--model-health-route", "PATH", "path of the health check",
              "modelToUpload.containerSpec.healthRoute",
              TextField{[](Job& job) -> Text& { return serving(job).health_route; }}},
    FieldFlag{Group::version, "--model-description", "TEXT", "description of the model",
              "modelToUpload.description",
              TextField{[](Job& job) -> Text& { return model(job).description; }}},
    FieldFlag{Group::data, "--model-id", "ID", "last part of the model's name", "modelId",
              TextField{[](Job& job) -> Text& { return job.model_id; }}},
    FieldFlag{Group::data, "--parent-model", "NAME", "make it a version of this model",
              "parentModel", TextField{[](Job& job) -> Text& { return job.parent_model; }}},
    FieldFlag{Group::data, "--model-version-aliases", "NAME,...", "names of the version",
              "modelToUpload.versionAliases", ListField{[](Job& job) -> std::vector<std::string>& {
                return ensure(model(job).version_aliases);
              }}},
    FieldFlag{Group::data, "--model-version-description", "TEXT", "description of the version",
              "modelToUpload.versionDescription",
              TextField{[](Job& job) -> Text& { return model(job).version_description; }}},
    FieldFlag{Group::data, "--dataset-id", "ID",
              "dataset to train on; a --config file may contain its split",
              "inputDataConfig.datasetId",
              TextField{[](Job& job) -> Text& { return ensure(job.data).dataset_id; }}},
};

class JobFieldSetter {
public:
  JobFieldSetter(const GivenField& given, Job& job, Problems& problems)
      : given_{given}, job_{job}, problems_{problems} {}

  void operator()(const TextField& field) const {
    field.place(job_) = std::get<std::string>(given_.value);
    report_origin();
  }

  void operator()(const DurationField& field) const {
    const auto& text = std::get<std::string>(given_.value);
    if (auto duration = api_duration(text)) {
      field.place(job_) = std::move(duration);
      report_origin();
      return;
    }
    problems_.push_back(
        {.message =
             fmt::format("`{}` is not a duration such as `3600s`, `2h` or `7d`", printable(text)),
         .origin = to_string(given_.origin)});
  }

  /// False removes the file's value, because gcloud omits it too.
  void operator()(const SwitchField& field) const {
    if (std::get<bool>(given_.value)) {
      field.place(job_) = true;
      report_origin();
    } else if (job_.origins.erase(std::string{given_.flag->path}) > 0) {
      field.place(job_).reset();
    }
  }

  void operator()(const ListField& field) const {
    field.place(job_) = std::get<std::vector<std::string>>(given_.value);
    report_origin();
  }

  void operator()(const PoolTextField& /*field*/) const {}

  void operator()(const PoolNumberField& /*field*/) const {}

private:
  void report_origin() const { job_.origins[std::string{given_.flag->path}] = given_.origin; }

  const GivenField& given_;
  Job& job_;
  Problems& problems_;
};

}  // namespace

std::span<const FieldFlag> field_flags() {
  return table;
}

const FieldFlag* find_field_flag(std::string_view flag) {
  const auto* const found =
      std::ranges::find_if(table, [&](const FieldFlag& row) { return row.flag == flag; });
  return found == table.end() ? nullptr : found;
}

bool is_of_pipeline(const FieldFlag& flag) {
  return flag.group == Group::model || flag.group == Group::version || flag.group == Group::data;
}

bool is_of_pool(const FieldFlag& flag) {
  return std::holds_alternative<PoolTextField>(flag.place) ||
         std::holds_alternative<PoolNumberField>(flag.place);
}

void set_field(const GivenField& given, Job& job, Problems& problems) {
  std::visit(JobFieldSetter{given, job, problems}, given.flag->place);
}

void set_field(const GivenField& given, Pool& pool, const std::string& path, Origins& origins) {
  if (const auto* text = std::get_if<PoolTextField>(&given.flag->place)) {
    text->place(pool) = std::get<std::string>(given.value);
  } else if (const auto* number = std::get_if<PoolNumberField>(&given.flag->place)) {
    number->place(pool) = std::get<std::int64_t>(given.value);
  } else {
    return;
  }
  origins[fmt::format("{}.{}", path, given.flag->path)] = given.origin;
}

}  // namespace autopack::job
