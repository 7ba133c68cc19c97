#include "kubernetes/objects.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/pod.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr std::size_t longest_label = 63;
constexpr std::size_t id_letters = 6;
/// Restarts after the cluster's own failures: a lost node, a preemption.
constexpr int most_restarts = 3;
constexpr std::int64_t kept_seconds = 604'800;  // a week

/// Returns the seconds of `7200s`, rounded up; nothing without a limit.
std::optional<std::int64_t> seconds_of(const job::Text& duration) {
  const auto text = duration.value_or("");
  std::int64_t seconds = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failure != std::errc{} || seconds < 0) {
    return std::nullopt;
  }
  const bool has_fraction = std::string_view{end, text.data() + text.size()}.find_first_of(
                                "123456789") != std::string_view::npos;
  seconds += has_fraction ? 1 : 0;
  return seconds == 0 ? std::nullopt : std::optional{seconds};
}

std::optional<std::int64_t> deadline_of(const job::Job& job) {
  return job.spec.scheduling ? seconds_of(job.spec.scheduling->timeout) : std::nullopt;
}

bool never_restarts(const job::Job& job) {
  return job.spec.scheduling && job.spec.scheduling->disable_retries.value_or(false);
}

bool restarts_together(const job::Job& job) {
  return job.spec.scheduling && job.spec.scheduling->restart_on_worker_restart.value_or(false);
}

json metadata_of(const job::Job& job, const ObjectOptions& options, const std::string& id) {
  const auto kind = kind_of(job, options);
  auto labels = json::object();
  for (const auto& [name, value] : job.labels.value_or(std::map<std::string, std::string>{})) {
    labels[name] = value;
  }
  labels["app.kubernetes.io/managed-by"] = "autopack";
  labels[submit::submission_label] = id;
  if (options.queue) {
    labels[queue_label] = *options.queue;
    if (options.priority_class) {
      labels[queue_priority_label] = *options.priority_class;
    }
  }
  return {{"name", object_name(job, id, kind)},
          {"namespace", options.name_space},
          {"labels", std::move(labels)},
          {"annotations", {{display_name_annotation, job.display_name.value_or("")}}}};
}

/// The program's own failure ends the job, as on Vertex AI; a pod that the cluster ended is started
/// again, alone or with all others.
json pod_failure_policy(const job::Job& job, const std::string& container) {
  auto rules = json::array();
  if (!never_restarts(job)) {
    rules.push_back(
        {{"action", restarts_together(job) ? "Count" : "Ignore"},
         {"onPodConditions", json::array({{{"type", "DisruptionTarget"}, {"status", "True"}}})}});
  }
  rules.push_back(
      {{"action", "FailJob"},
       {"onExitCodes",
        {{"containerName", container}, {"operator", "NotIn"}, {"values", json::array({0})}}}});
  return {{"rules", std::move(rules)}};
}

/// Returns the spec of a Job with one pod.
json job_spec_of(const job::Job& job, json pod_template) {
  json spec{{"completionMode", "Indexed"},
            {"completions", 1},
            {"parallelism", 1},
            {"backoffLimit", 0},
            {"podFailurePolicy", pod_failure_policy(job, container_name)},
            {"template", std::move(pod_template)}};
  if (const auto deadline = deadline_of(job)) {
    spec["activeDeadlineSeconds"] = *deadline;
  }
  return spec;
}

json envelope(ObjectKind kind, json metadata, json spec) {
  return {{"apiVersion", facts_of(kind).version},
          {"kind", facts_of(kind).name},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

/// Returns the pools that run something.
std::vector<std::size_t> pools_of(const job::Job& job) {
  std::vector<std::size_t> pools;
  const auto counts = job::replica_counts(job.spec);
  for (std::size_t pool = 0; pool < counts.size(); ++pool) {
    if (counts[pool] > 0) {
      pools.push_back(pool);
    }
  }
  return pools;
}

struct Parts {
  std::string name{};
  ObjectKind kind{ObjectKind::job};
  job::Cluster cluster{};
};

Parts parts_of(const job::Job& job, const ObjectOptions& options, const std::string& id) {
  const auto kind = kind_of(job, options);
  const auto name = object_name(job, id, kind);
  return {.name = name, .kind = kind, .cluster = cluster_of(job, name, kind)};
}

json make_job_object(const job::Job& job,
                     const ObjectOptions& options,
                     const std::string& id,
                     const Parts& parts) {
  auto spec = job_spec_of(
      job, pod_template_of(job, pools_of(job).front(), parts.cluster, parts.kind, options));
  spec["ttlSecondsAfterFinished"] = kept_seconds;
  if (restarts_together(job) && !never_restarts(job)) {
    spec["backoffLimit"] = most_restarts;
  }
  if (options.queue) {
    spec["suspend"] = true;
  }
  return envelope(parts.kind, metadata_of(job, options, id), std::move(spec));
}

json make_job_set(const job::Job& job,
                  const ObjectOptions& options,
                  const std::string& id,
                  const Parts& parts) {
  const auto counts = job::replica_counts(job.spec);
  auto pools = json::array();
  for (const auto pool : pools_of(job)) {
    auto spec = job_spec_of(job, pod_template_of(job, pool, parts.cluster, parts.kind, options));
    pools.push_back({{"name", fmt::format("workerpool{}", pool)},
                     {"replicas", counts[pool]},
                     {"template", {{"spec", std::move(spec)}}}});
  }
  json failure{{"maxRestarts", never_restarts(job) ? 0 : most_restarts},
               {"rules", json::array({{{"name", "ownFailure"},
                                       {"action", "FailJobSet"},
                                       {"onJobFailureReasons",
                                        json::array({"PodFailurePolicy", "DeadlineExceeded"})}}})}};
  const auto chief = fmt::format("workerpool{}", pools_of(job).front());
  json spec{
      {"network", {{"enableDNSHostnames", true}, {"publishNotReadyAddresses", true}}},
      {"failurePolicy", std::move(failure)},
      // On Vertex AI, the job ends with its chief.
      {"successPolicy", {{"operator", "All"}, {"targetReplicatedJobs", json::array({chief})}}},
      {"replicatedJobs", std::move(pools)},
      {"ttlSecondsAfterFinished", kept_seconds}};
  if (options.queue) {
    spec["suspend"] = true;
  }
  return envelope(parts.kind, metadata_of(job, options, id), std::move(spec));
}

/// Moves what a TrainJob takes of `container`; returns the rest as a patch of its container.
json take_trainer(json& container, json& trainer) {
  for (const auto* name : {"image", "command", "args", "env"}) {
    if (container.contains(name)) {
      trainer[name] = std::move(container[name]);
      container.erase(name);
    }
  }
  if (container.contains("resources")) {
    trainer["resourcesPerNode"] = std::move(container["resources"]);
    container.erase("resources");
  }
  return container;
}

json make_train_job(const job::Job& job,
                    const ObjectOptions& options,
                    const std::string& id,
                    const Parts& parts) {
  const auto pool = pools_of(job).front();
  auto pod = pod_template_of(job, pool, parts.cluster, parts.kind, options);
  json trainer{{"numNodes", job::replica_counts(job.spec)[pool]}};
  auto& of_pod = pod["spec"];
  auto& containers = of_pod["containers"];
  containers[0] = take_trainer(containers[0], trainer);
  // The runtime sets them.
  of_pod.erase("restartPolicy");
  of_pod.erase("enableServiceLinks");
  json patch{{"manager", "autopack.dev/cli"}};
  patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"] = json::array(
      {{{"name", train_container}, {"template", {{"spec", {{"template", std::move(pod)}}}}}}});
  json spec{{"runtimeRef",
             {{"apiGroup", "trainer.kubeflow.org"},
              {"kind", "ClusterTrainingRuntime"},
              {"name", options.runtime.value_or("")}}},
            {"trainer", std::move(trainer)},
            {"runtimePatches", json::array({std::move(patch)})}};
  if (const auto deadline = deadline_of(job)) {
    spec["activeDeadlineSeconds"] = *deadline;
  }
  if (options.queue) {
    spec["suspend"] = true;
  }
  return envelope(parts.kind, metadata_of(job, options, id), std::move(spec));
}

}  // namespace

const std::vector<KindFacts>& all_kinds() {
  static const std::vector<KindFacts> kinds{
      {ObjectKind::job, "job", "Job", "batch/v1", "jobs", "batch.kubernetes.io/job-name"},
      {ObjectKind::job_set, "jobset", "JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets",
       "jobset.sigs.k8s.io/jobset-name"},
      {ObjectKind::train_job, "trainjob", "TrainJob", "trainer.kubeflow.org/v1alpha1", "trainjobs",
       "jobset.sigs.k8s.io/jobset-name"},
  };
  return kinds;
}

const KindFacts& facts_of(ObjectKind kind) {
  return all_kinds()[static_cast<std::size_t>(kind)];
}

std::optional<ObjectKind> find_kind(std::string_view word) {
  const auto found = std::ranges::find(all_kinds(), word, &KindFacts::word);
  return found == all_kinds().end() ? std::nullopt : std::optional{found->kind};
}

ObjectKind kind_of(const job::Job& job, const ObjectOptions& options) {
  const auto counts = job::replica_counts(job.spec);
  const auto replicas = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  return options.kind.value_or(replicas > 1 ? ObjectKind::job_set : ObjectKind::job);
}

std::string object_name(const job::Job& job, const std::string& id, ObjectKind kind) {
  std::string name;
  for (const char c : to_lower(job.display_name.value_or(""))) {
    const bool is_plain = is_alphanumeric(std::string_view{&c, 1});
    if (is_plain || (!name.empty() && !name.ends_with('-'))) {
      name += is_plain ? c : '-';
    }
  }
  if (name.empty() || is_digit(name.front())) {
    name = "job-" + name;
  }
  const auto counts = job::replica_counts(job.spec);
  const auto most = counts.empty() ? 0 : *std::ranges::max_element(counts);
  // A pod of a JobSet is NAME-workerpoolP-I-0-abcde, of a TrainJob NAME-node-0-I-abcde.
  auto suffix = fmt::format("-{}", most == 0 ? 0 : most - 1);
  if (kind == ObjectKind::job_set) {
    suffix = fmt::format("-workerpool{}{}-0-abcde", counts.empty() ? 0 : counts.size() - 1, suffix);
  } else {
    suffix = fmt::format("-node-0{}-abcde", suffix);
  }
  name = name.substr(0, longest_label - suffix.size() - 1 - id_letters);
  while (name.ends_with('-')) {
    name.pop_back();
  }
  return name + "-" + id.substr(0, id_letters);
}

job::Cluster cluster_of(const job::Job& job, const std::string& name, ObjectKind kind) {
  const auto counts = job::replica_counts(job.spec);
  job::Cluster cluster{.job = "kubernetes/" + name, .network = name};
  for (std::size_t pool = 0; pool < counts.size(); ++pool) {
    for (std::size_t index = 0; index < counts[pool]; ++index) {
      auto host = fmt::format("{}-{}", name, index);
      if (kind == ObjectKind::job_set) {
        host = fmt::format("{}-workerpool{}-{}-0.{}", name, pool, index, name);
      } else if (kind == ObjectKind::train_job) {
        host = fmt::format("{}-{}-0-{}.{}", name, train_container, index, name);
      }
      cluster.replicas.push_back({.pool = pool,
                                  .index = index,
                                  .rank = cluster.replicas.size(),
                                  .name = fmt::format("workerpool{}-{}", pool, index),
                                  .host = std::move(host)});
    }
  }
  return cluster;
}

json make_object(const job::Job& job, const ObjectOptions& options, const std::string& id) {
  const auto parts = parts_of(job, options, id);
  switch (parts.kind) {
    case ObjectKind::job: return make_job_object(job, options, id, parts);
    case ObjectKind::job_set: return make_job_set(job, options, id, parts);
    case ObjectKind::train_job: return make_train_job(job, options, id, parts);
  }
  return {};
}

std::vector<Probe> probes_of(const job::Job& job,
                             const ObjectOptions& options,
                             const std::string& id) {
  const auto parts = parts_of(job, options, id);
  std::vector<Probe> probes;
  for (const auto pool : pools_of(job)) {
    const auto what = fmt::format("worker pool {}", pool);
    const auto pod = pod_template_of(job, pool, parts.cluster, parts.kind, options);
    const auto name = fmt::format("{}-{}", parts.name, pool);
    const json metadata{{"name", name}, {"namespace", options.name_space}};
    if (parts.kind == ObjectKind::job_set) {
      const json object{{"apiVersion", "batch/v1"},
                        {"kind", "Job"},
                        {"metadata", metadata},
                        {"spec", job_spec_of(job, pod)}};
      probes.push_back({.what = what,
                        .pool = pool,
                        .version = "batch/v1",
                        .plural = "jobs",
                        .object = std::make_shared<const json>(object)});
    }
    json object{{"apiVersion", "v1"}, {"kind", "Pod"}, {"spec", pod["spec"]}};
    object["metadata"] = pod.contains("metadata") ? pod["metadata"] : json::object();
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = options.name_space;
    probes.push_back({.what = what,
                      .pool = pool,
                      .version = "v1",
                      .plural = "pods",
                      .object = std::make_shared<const json>(std::move(object))});
  }
  return probes;
}

}  // namespace autopack::kubernetes
