#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/pod.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <utility>

namespace autopack::kubernetes {

namespace {

constexpr auto* submitter = "`--submitter=kubernetes`";

/// Collects what has no place in the cluster.
class Refusals {
public:
  Refusals(const job::Job& job, const ObjectOptions& options) : job_{job}, options_{options} {}

  Problems take() { return std::move(problems_); }

  void check_kind();
  void check_spec();
  void check_scheduling();
  void check_labels();
  void check_shape();
  void check_pool(std::size_t index);

private:
  std::string origin_of(const std::string& path) const {
    const auto found = job_.origins.find(path);
    return found == job_.origins.end() ? submitter : job::to_string(found->second);
  }

  void refuse(const std::string& path, std::string message, std::vector<std::string> hints = {}) {
    problems_.push_back(
        {.message = std::move(message), .origin = origin_of(path), .hints = std::move(hints)});
  }

  void no_place(bool is_set, const std::string& path, std::string_view what) {
    if (is_set) {
      refuse(path, fmt::format("{} has no place in a Kubernetes cluster", what),
             {"leave it out, or submit to Vertex AI: --submitter=vertex"});
    }
  }

  void warn(const std::string& path, std::string message, std::vector<std::string> hints = {}) {
    problems_.push_back(Problem::warning(
        {.message = std::move(message), .origin = origin_of(path), .hints = std::move(hints)}));
  }

  void refuse_others(const job::Bag& bag, const std::string& path) {
    for (const auto& [name, value] : bag.fields().items()) {
      no_place(true, path + name, fmt::format("`{}`", printable(path + name)));
    }
  }

  void check_machine(const job::Pool& pool, const std::string& path, const std::string& name);
  void check_accelerator(const job::Machine& machine,
                         const std::string& path,
                         const std::string& name);
  void check_mounts(const job::Pool& pool, const std::string& path, const std::string& name);

  const job::Job& job_;
  const ObjectOptions& options_;
  Problems problems_{};
};

void Refusals::check_kind() {
  if (job::is_tuning(job_.kind)) {
    refuse("studySpec", "a study needs Vertex AI or this machine: Kubernetes has none",
           {"run it here: --submitter=local"});
  }
  if (job::is_pipeline(job_.kind) || job_.model || job_.data) {
    refuse("modelToUpload", "a training pipeline needs Vertex AI: Kubernetes has none",
           {"leave out `--as`, and the flags of model and dataset"});
  }
  no_place(job_.encryption.has_value(), "encryptionSpec", "an encryption key");
  refuse_others(job_.others, "");
}

void Refusals::check_spec() {
  const auto& spec = job_.spec;
  const std::string path = "jobSpec.";
  no_place(spec.network.has_value(), path + "network", "a VPC network");
  no_place(!spec.reserved_ip_ranges.empty(), path + "reservedIpRanges", "a reserved IP range");
  no_place(spec.psc_interface.has_value(), path + "pscInterfaceConfig", "Private Service Connect");
  no_place(spec.tensorboard.has_value(), path + "tensorboard", "a Vertex AI TensorBoard");
  no_place(spec.enable_web_access.value_or(false), path + "enableWebAccess", "web access");
  no_place(spec.enable_dashboard_access.value_or(false), path + "enableDashboardAccess",
           "dashboard access");
  no_place(spec.experiment.has_value(), path + "experiment", "an experiment");
  no_place(spec.experiment_run.has_value(), path + "experimentRun", "an experiment run");
  no_place(!spec.models.empty(), path + "models", "a list of models");
  no_place(spec.persistent_resource.has_value(), path + "persistentResourceId",
           "a persistent resource");
  no_place(spec.protected_artifact_location.has_value(), path + "protectedArtifactLocationId",
           "a protected artifact location");
  if (spec.service_account && spec.service_account->find('@') != std::string::npos) {
    refuse(path + "serviceAccount",
           fmt::format("`{}` is an account of Google Cloud, and a pod has a service account of its "
                       "namespace",
                       printable(*spec.service_account)),
           {"name that: --service-account=NAME; Workload Identity lets it act as the other"});
  }
  refuse_others(spec.others, path);
}

void Refusals::check_scheduling() {
  if (!job_.spec.scheduling) {
    return;
  }
  const std::string path = "jobSpec.scheduling.";
  const auto& scheduling = *job_.spec.scheduling;
  const auto strategy = scheduling.strategy.value_or("");
  no_place(scheduling.max_wait.has_value(), path + "maxWaitDuration",
           "a maximum wait for capacity");
  if (strategy == "SPOT" && !options_.is_gke) {
    refuse(path + "strategy", "only GKE has a common label for spot machines",
           {"choose your cluster's spot nodes in the pod template: nodeSelector and tolerations"});
  }
  if (strategy == "FLEX_START" && !options_.queue) {
    refuse(path + "strategy", "a job that starts when there is capacity needs a queue of Kueue",
           {"name a queue whose ClusterQueue requests capacity: --queue=NAME"});
  }
  refuse_others(scheduling.others, path);
}

bool is_label_value(const std::string& text) {
  return text.empty() ||
         (text.size() <= 63 && is_alphanumeric(text, "-_.") && is_alphanumeric(text.substr(0, 1)) &&
          is_alphanumeric(text.substr(text.size() - 1)));
}

void Refusals::check_labels() {
  for (const auto& [name, value] : job_.labels.value_or(std::map<std::string, std::string>{})) {
    if (name.empty() || !is_label_value(name) || !is_label_value(value)) {
      refuse("labels." + name,
             fmt::format("`{}={}` is not a label of Kubernetes", printable(name), printable(value)),
             {"use letters, digits, `-`, `_` and `.`, with a letter or digit at both ends, at most "
              "63"});
    }
  }
}

void Refusals::check_shape() {
  const auto counts = job::replica_counts(job_.spec);
  const auto replicas = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto pools = std::ranges::count_if(counts, [](std::size_t count) { return count > 0; });
  if (pools == 0) {
    return;  // the rules of jobs report it
  }
  const auto kind = kind_of(job_, options_);
  if (kind == ObjectKind::job && replicas > 1) {
    problems_.push_back(
        {.message = fmt::format("a Job has one replica, and this job has {}", replicas),
         .origin = "`--object=job`",
         .hints = {"leave it out: a JobSet gives replicas the names by which they find each "
                   "other"}});
  }
  if (kind == ObjectKind::train_job && pools > 1) {
    problems_.push_back({.message = fmt::format("a TrainJob has one worker pool, and this job has "
                                                "{}",
                                                pools),
                         .origin = "`--object=trainjob`",
                         .hints = {"use a JobSet: --object=jobset"}});
  }
  if (kind == ObjectKind::train_job && !options_.runtime) {
    problems_.push_back({.message = "a TrainJob needs the name of its runtime",
                         .origin = "`--object=trainjob`",
                         .hints = {"name it: --runtime=torch-distributed",
                                   "list them: kubectl get clustertrainingruntimes"}});
  }
  if (kind != ObjectKind::train_job && options_.runtime) {
    problems_.push_back({.message = "only a TrainJob has a runtime",
                         .origin = "`--runtime`",
                         .hints = {"add `--object=trainjob`, or leave it out"}});
  }
  if (kind == ObjectKind::train_job && options_.priority_class && !options_.queue) {
    problems_.push_back({.message = "a TrainJob has a priority only in a queue",
                         .origin = "`--priority-class`",
                         .hints = {"name the queue: --queue=NAME"}});
  }
}

void Refusals::check_accelerator(const job::Machine& machine,
                                 const std::string& path,
                                 const std::string& name) {
  const auto& type = machine.accelerator.value_or("");
  const auto names = names_of_accelerator(type);
  if (type.empty() || type.starts_with("TPU")) {
    return;
  }
  if (options_.is_gke && names.gke.empty()) {
    refuse(path + "acceleratorType",
           fmt::format("{}: GKE's label for `{}` is not known", name, printable(type)),
           {"leave the type out, and choose the nodes in the pod template: nodeSelector"});
  } else if (!options_.is_gke && names.products.empty()) {
    warn(path + "acceleratorType",
         fmt::format("{}: the product name of `{}` is not known, so the job may get any GPU", name,
                     printable(type)),
         {"choose the nodes in the pod template: nodeSelector"});
  }
}

void Refusals::check_machine(const job::Pool& pool,
                             const std::string& path,
                             const std::string& name) {
  const auto& machine = *pool.machine;
  const auto of_machine = path + "machineSpec.";
  if (is_tpu(pool) && !options_.is_gke) {
    refuse(of_machine + "tpuTopology", fmt::format("{}: only GKE has TPUs", name));
  } else if (is_tpu(pool) && tpu_accelerator(machine.type.value_or("")).empty()) {
    refuse(
        of_machine + "machineType",
        fmt::format("{}: the TPU of `{}` is not known", name, printable(machine.type.value_or(""))),
        {"name a machine type that begins with ct4p, ct5lp, ct5p or ct6e"});
  }
  check_accelerator(machine, of_machine, name);
  if (machine.gpu_partition_size && !options_.is_gke) {
    refuse(of_machine + "gpuPartitionSize",
           fmt::format("{}: only GKE has a common label for a part of a GPU", name),
           {"ask for your cluster's resource in the pod template: "
            "containers: [{name: trainer, resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]"});
  }
  const auto affinity = machine.reservation ? machine.reservation->type.value_or("") : "";
  if (affinity == "SPECIFIC_RESERVATION" && !options_.is_gke) {
    refuse(of_machine + "reservationAffinity", fmt::format("{}: only GKE has reservations", name));
  }
  refuse_others(machine.others, of_machine);
}

void Refusals::check_mounts(const job::Pool& pool,
                            const std::string& path,
                            const std::string& name) {
  if (!pool.lustre_mounts.empty()) {
    refuse(path + "lustreMounts",
           fmt::format("{}: a pod cannot mount a Lustre file system by its address", name),
           {"mount its PersistentVolumeClaim in the pod template: volumes and volumeMounts"});
  }
  if (!options_.is_gke && uses_gcs_directory(pool)) {
    warn(path + "containerSpec",
         fmt::format("{}: the directory /gcs exists only on Vertex AI and GKE", name),
         {"mount your data in the pod template: volumes and volumeMounts"});
  }
  if (pool.disk && pool.disk->type && !options_.is_gke) {
    warn(path + "diskSpec.bootDiskType",
         fmt::format("{}: the type of a node's disk has no effect outside GKE", name));
  }
}

void Refusals::check_pool(std::size_t index) {
  const auto& pool = job_.spec.pools[index];
  const auto path = job::pool_path(index) + ".";
  const auto name = fmt::format("worker pool {}", index);
  if (pool.package) {
    refuse(path + "pythonPackageSpec",
           fmt::format("{}: Python packages in Cloud Storage need Vertex AI", name),
           {"package the project into the image: --script or --python-module with "
            "--executor-image-uri"});
  }
  if (pool.machine) {
    check_machine(pool, path, name);
  }
  check_mounts(pool, path, name);
  refuse_others(pool.others, path);
  if (pool.container) {
    refuse_others(pool.container->others, path + "containerSpec.");
  }
}

}  // namespace

Problems check_job(const job::Job& job, const ObjectOptions& options) {
  Refusals refusals{job, options};
  refusals.check_kind();
  refusals.check_spec();
  refusals.check_scheduling();
  refusals.check_labels();
  refusals.check_shape();
  for (std::size_t index = 0; index < job.spec.pools.size(); ++index) {
    refusals.check_pool(index);
  }
  return refusals.take();
}

}  // namespace autopack::kubernetes
