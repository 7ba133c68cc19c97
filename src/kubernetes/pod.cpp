#include "kubernetes/pod.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/pod_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr auto* index_annotation =
    "metadata.annotations['batch.kubernetes.io/job-completion-index']";

PlaceFields place_of(ObjectKind kind) {
  if (kind == ObjectKind::job_set) {
    return {.rank = "metadata.labels['jobset.sigs.k8s.io/job-global-index']",
            .index = "metadata.labels['jobset.sigs.k8s.io/job-index']"};
  }
  return {.rank = index_annotation, .index = index_annotation};
}

json escaped_list(const std::vector<std::string>& words) {
  auto list = json::array();
  for (const auto& word : words) {
    list.push_back(escaped(word));
  }
  return list;
}

struct Volumes {
  json volumes = json::array();
  json mounts = json::array();
  json annotations = json::object();

  void add(json volume, const std::string& directory) {
    mounts.push_back({{"name", volume["name"]}, {"mountPath", directory}});
    volumes.push_back(std::move(volume));
  }
};

Volumes volumes_of(const job::Pool& pool, const ObjectOptions& options) {
  Volumes all;
  // Without it /dev/shm has 64 MB, too little for the workers of a data loader.
  all.add({{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}}}}, "/dev/shm");
  for (std::size_t i = 0; i < pool.nfs_mounts.size(); ++i) {
    const auto& mount = pool.nfs_mounts[i];
    all.add({{"name", fmt::format("nfs-{}", i)},
             {"nfs", {{"server", mount.server.value_or("")}, {"path", mount.path.value_or("")}}}},
            "/mnt/nfs/" + mount.mount_point.value_or(""));
  }
  if (options.is_gke && uses_gcs_directory(pool)) {
    // The bucket `_` shows all buckets, as Vertex AI does.
    all.add(
        {{"name", "gcs"},
         {"csi",
          {{"driver", "gcsfuse.csi.storage.gke.io"}, {"volumeAttributes", {{"bucketName", "_"}}}}}},
        "/gcs");
    all.annotations["gke-gcsfuse/volumes"] = "true";
  }
  return all;
}

/// Returns where a pool's accelerator is, by the product name of its GPUs; null if it is anywhere.
json affinity_of(const job::Pool& pool, const ObjectOptions& options) {
  if (options.is_gke || is_tpu(pool) || !pool.machine || !pool.machine->accelerator) {
    return nullptr;
  }
  const auto products = names_of_accelerator(*pool.machine->accelerator).products;
  if (products.empty()) {
    return nullptr;
  }
  const json expression{
      {"key", "nvidia.com/gpu.product"}, {"operator", "In"}, {"values", products}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms",
               json::array({{{"matchExpressions", json::array({expression})}}})}}}}}};
}

json tolerations_of(const job::Job& job, const job::Pool& pool, const ObjectOptions& options) {
  auto list = json::array();
  if (pool.machine && (pool.machine->accelerator || is_tpu(pool))) {
    list.push_back({{"key", is_tpu(pool) ? "google.com/tpu" : "nvidia.com/gpu"},
                    {"operator", "Exists"},
                    {"effect", "NoSchedule"}});
  }
  if (options.is_gke && job.spec.scheduling &&
      job.spec.scheduling->strategy.value_or("") == "SPOT") {
    list.push_back({{"key", "cloud.google.com/gke-spot"},
                    {"operator", "Equal"},
                    {"value", "true"},
                    {"effect", "NoSchedule"}});
  }
  return list;
}

json container_of(const job::Job& job,
                  std::size_t pool_index,
                  const job::Cluster& cluster,
                  ObjectKind kind) {
  const auto& pool = job.spec.pools[pool_index];
  const auto none = job::Container{};
  const auto& wanted = pool.container ? *pool.container : none;
  const auto output = job.spec.output ? job.spec.output->uri : std::nullopt;
  json container{{"name", kind == ObjectKind::train_job ? train_container : container_name},
                 {"image", wanted.image.value_or("")},
                 {"env", environment_of(pool, pool_index, cluster, output, place_of(kind))}};
  if (!wanted.command.empty()) {
    container["command"] = escaped_list(wanted.command);
  }
  if (!wanted.args.empty()) {
    container["args"] = escaped_list(wanted.args);
  }
  if (auto limits = limits_of(pool); !limits.empty()) {
    container["resources"]["limits"] = std::move(limits);
  }
  return container;
}

}  // namespace

bool uses_gcs_directory(const job::Pool& pool) {
  const auto names_it = [](const std::string& text) {
    return text.find("/gcs/") != std::string::npos || text.ends_with("/gcs");
  };
  return pool.container &&
         (std::ranges::any_of(pool.container->command, names_it) ||
          std::ranges::any_of(pool.container->args, names_it) ||
          std::ranges::any_of(pool.container->env, [&](const job::Variable& variable) {
            return names_it(variable.value.value_or(""));
          }));
}

json pod_template_of(const job::Job& job,
                     std::size_t pool_index,
                     const job::Cluster& cluster,
                     ObjectKind kind,
                     const ObjectOptions& options) {
  const auto& pool = job.spec.pools[pool_index];
  auto volumes = volumes_of(pool, options);
  auto container = container_of(job, pool_index, cluster, kind);
  container["volumeMounts"] = std::move(volumes.mounts);
  json spec{{"restartPolicy", "Never"},
            // Variables for each service of the namespace would clutter the program's environment.
            {"enableServiceLinks", false},
            {"containers", json::array({std::move(container)})},
            {"volumes", std::move(volumes.volumes)}};
  const auto set = [&](const char* name, json value) {
    if (!value.empty()) {
      spec[name] = std::move(value);
    }
  };
  set("nodeSelector", node_selector_of(job, pool, options));
  set("affinity", affinity_of(pool, options));
  set("tolerations", tolerations_of(job, pool, options));
  if (job.spec.service_account) {
    spec["serviceAccountName"] = *job.spec.service_account;
  }
  if (options.priority_class && !options.queue) {
    spec["priorityClassName"] = *options.priority_class;
  }
  json result{{"spec", std::move(spec)}};
  if (!volumes.annotations.empty()) {
    result["metadata"]["annotations"] = std::move(volumes.annotations);
  }
  if (options.pod_template) {
    merge_strategically(result, *options.pod_template);
  }
  return result;
}

}  // namespace autopack::kubernetes
