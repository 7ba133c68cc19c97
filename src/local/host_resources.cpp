#include "local/host_resources.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace autopack::local {

namespace {

using nlohmann::json;

constexpr int port = 2222;  // of every replica, and of the torch.distributed rendezvous

constexpr std::array<std::string_view, 4> tasks{"chief", "worker", "ps", "evaluator"};

std::string task_of(std::size_t pool) {
  return std::string{pool < tasks.size() ? tasks[pool] : "worker"};
}

std::string address(const Replica& replica) {
  return fmt::format("{}:{}", replica.host, port);
}

/// Returns the job as text, as real jobs were seen to get it.
std::string job_text(const job::Pool& pool) {
  json job{{"python_module", ""}, {"package_uris", json::array()}, {"job_args", json::array()}};
  if (pool.package) {
    job["python_module"] = pool.package->module.value_or("");
    job["package_uris"] = pool.package->uris;
    job["job_args"] = pool.package->args;
  } else if (pool.container) {
    job["job_args"] = pool.container->args;
  }
  return print_json(job);
}

json whole(const job::Pool& pool,
           json cluster,
           json task,
           const std::optional<std::string>& trial) {
  if (trial) {
    task["trial"] = *trial;
  }
  return {{"cluster", std::move(cluster)},
          {"environment", "cloud"},
          {"task", std::move(task)},
          {"job", job_text(pool)}};
}

/// Returns the end of the `$(` reference at `begin`; npos if it is not a reference.
std::size_t reference_end(std::string_view text, std::size_t begin) {
  return text.substr(begin).starts_with("$(") ? text.find(')', begin) : std::string_view::npos;
}

std::string expanded(std::string_view text, const Variables& known) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_escaped = text.substr(at).starts_with("$$");
    const auto end = is_escaped ? std::string_view::npos : reference_end(text, at);
    if (is_escaped) {
      result += '$';
      at += 2;
    } else if (end == std::string_view::npos) {
      result += text[at++];
    } else {
      const auto found = known.find(std::string{text.substr(at + 2, end - at - 2)});
      result += found == known.end() ? std::string{text.substr(at, end + 1 - at)} : found->second;
      at = end + 1;
    }
  }
  return result;
}

}  // namespace

std::string cluster_spec(const job::Pool& pool,
                         const Cluster& cluster,
                         const Replica& replica,
                         const std::optional<std::string>& trial) {
  auto pools = json::object();
  for (const auto& one : cluster.replicas) {
    pools[fmt::format("workerpool{}", one.pool)].push_back(address(one));
  }
  const json task{{"type", fmt::format("workerpool{}", replica.pool)}, {"index", replica.index}};
  return print_json(whole(pool, std::move(pools), task, trial));
}

std::string tf_config(const job::Pool& pool,
                      const Cluster& cluster,
                      const Replica& replica,
                      const std::optional<std::string>& trial) {
  auto members = json::object();
  for (const auto& one : cluster.replicas) {
    // TensorFlow does not count evaluators as part of the cluster.
    if (task_of(one.pool) != "evaluator") {
      members[task_of(one.pool)].push_back(address(one));
    }
  }
  const json task{
      {"type", task_of(replica.pool)}, {"index", replica.index}, {"cloud", cluster.network}};
  return print_json(whole(pool, std::move(members), task, trial));
}

Variables service_variables(const job::Pool& pool,
                            const Cluster& cluster,
                            const Replica& replica,
                            const Surrounding& surrounding) {
  const auto& trial = surrounding.trial;
  Variables variables{
      {"CLUSTER_SPEC", cluster_spec(pool, cluster, replica, trial)},
      {"CLOUD_ML_PROJECT_ID", surrounding.project.value_or("")},
      {"CLOUD_ML_JOB_ID", cluster.job.substr(cluster.job.find('/') + 1)},
      {"MASTER_ADDR", cluster.replicas.front().host},
      {"MASTER_PORT", std::to_string(port)},
      {"RANK", std::to_string(replica.rank)},
      {"WORLD_SIZE", std::to_string(cluster.replicas.size())},
  };
  if (cluster.replicas.size() > 1) {
    variables["TF_CONFIG"] = tf_config(pool, cluster, replica, trial);
  }
  if (trial) {
    variables["CLOUD_ML_TRIAL_ID"] = *trial;
  }
  if (surrounding.output) {
    auto base = *surrounding.output + (surrounding.output->ends_with('/') ? "" : "/");
    base += trial ? *trial + "/" : "";
    variables["AIP_MODEL_DIR"] = base + "model/";
    variables["AIP_CHECKPOINT_DIR"] = base + "checkpoints/";
    variables["AIP_TENSORBOARD_LOG_DIR"] = base + "logs/";
  }
  return variables;
}

Variables with_own(Variables known, const std::vector<job::Variable>& own) {
  for (const auto& variable : own) {
    const auto value = expanded(variable.value.value_or(""), known);
    known[variable.name.value_or("")] = value;
  }
  return known;
}

namespace {

constexpr auto* origin = "`--submitter=local`";
constexpr auto* credentials_in_container = "/tmp/keys/cred_key.json";
constexpr std::string_view scheme{"gs://"};

/// Returns `BUCKET/PATH` for `gs://BUCKET/PATH`; empty for other addresses.
std::string below_scheme(std::string_view uri) {
  return std::string{uri.starts_with(scheme) ? uri.substr(scheme.size()) : ""};
}

std::string bucket_of(std::string_view uri) {
  const auto path = below_scheme(uri);
  return path.substr(0, path.find('/'));
}

bool wants_gpu(const job::Pool& pool) {
  return pool.machine && pool.machine->accelerator.value_or("").starts_with("NVIDIA");
}

std::size_t accelerators_of(const job::Pool& pool) {
  return wants_gpu(pool) ? static_cast<std::size_t>(std::clamp<std::int64_t>(
                               pool.machine->accelerators.value_or(1), 1, 64))
                         : 0;
}

Problem meaningless(const std::string& what) {
  return Problem::warning(
      {.message = fmt::format("{} has no effect on this machine", what), .origin = origin});
}

void check_pool(const job::Pool& pool, const HostResources& host, Problems& problems) {
  if (pool.package) {
    for (const auto& uri : pool.package->uris) {
      if (!host.buckets.contains(bucket_of(uri))) {
        problems.push_back(
            {.message = fmt::format("the package `{}` cannot be read here", printable(uri)),
             .origin = origin,
             .hints = {fmt::format("bind its bucket to a directory: --gcs={}=DIRECTORY",
                                   shell_quote(bucket_of(uri)))}});
      }
    }
  }
  if (pool.machine &&
      (pool.machine->tpu_topology || pool.machine->accelerator.value_or("").starts_with("TPU"))) {
    problems.push_back(meaningless("a TPU"));
  }
  if (!pool.nfs_mounts.empty() || !pool.lustre_mounts.empty()) {
    problems.push_back(meaningless("a network file system of a pool"));
  }
  if (wants_gpu(pool) && host.gpus.empty()) {
    problems.push_back(
        Problem::warning({.message = "this machine has no NVIDIA GPU: the job runs without one"}));
  }
}

/// Installs the packages as the service's images do, and execs the module.
void start_package(const job::PythonPackage& package, engine::ContainerSpec& container) {
  // These are variables because an old pip ignores unknown ones.
  std::string script = "PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip ";
  script += "install --quiet --user --disable-pip-version-check --no-warn-script-location";
  for (const auto& uri : package.uris) {
    script += " " + shell_quote("/gcs/" + below_scheme(uri));
  }
  script += " && exec python3 -m " + shell_quote(package.module.value_or("")) + R"( "$@")";
  container.image = package.executor_image.value_or("");
  container.command = {"/bin/sh", "-c", script, "sh"};
  container.arguments = package.args;
}

void mount(const job::Spec& spec, const HostResources& host, engine::ContainerSpec& container) {
  container.mounts = host.mounts;
  for (const auto& [bucket, directory] : host.buckets) {
    container.mounts.push_back(
        {.host_path = directory, .container_path = "/gcs/" + bucket, .read_only = false});
  }
  const auto output = output_in_containers(spec);
  const auto bucket = spec.output ? bucket_of(spec.output->uri.value_or("")) : "";
  if (output && !host.buckets.contains(bucket)) {
    container.mounts.push_back(
        {.host_path = host.output.value(), .container_path = *output, .read_only = false});
  }
  if (host.credentials) {
    container.mounts.push_back(
        {.host_path = *host.credentials, .container_path = credentials_in_container});
    container.environment["GOOGLE_APPLICATION_CREDENTIALS"] = credentials_in_container;
  }
}

/// Gives each replica its own GPUs if there are enough; else all GPUs to each.
void give_gpus(const job::Spec& spec,
               const Cluster& cluster,
               const Replica& replica,
               const HostResources& host,
               engine::ContainerSpec& container) {
  const auto own = accelerators_of(spec.pools.at(replica.pool));
  std::size_t before = 0;
  std::size_t all = 0;
  for (const auto& one : cluster.replicas) {
    const auto count = accelerators_of(spec.pools.at(one.pool));
    all += count;
    before += one.rank < replica.rank ? count : 0;
  }
  if (own == 0 || host.gpus.empty()) {
    return;
  }
  container.gpus = true;
  for (std::size_t i = before; all <= host.gpus.size() && i < before + own; ++i) {
    container.gpu_ids.push_back(host.gpus[i]);
  }
}

}  // namespace

Problems check_for_host(const job::Job& job, const HostResources& host) {
  Problems problems;
  const auto& spec = job.spec;
  for (const auto& pool : spec.pools) {
    check_pool(pool, host, problems);
  }
  const std::vector<std::pair<bool, std::string>> parts{
      {spec.network || spec.psc_interface || !spec.reserved_ip_ranges.empty(), "the job's network"},
      {spec.persistent_resource.has_value(), "a persistent resource"},
      {spec.service_account.has_value(), "the job's service account"},
      {spec.tensorboard.has_value(), "the job's TensorBoard"},
      {job.encryption.has_value(), "the job's encryption key"},
      {spec.enable_web_access.value_or(false), "web access"},
      {spec.scheduling && spec.scheduling->strategy, "the scheduling strategy"}};
  for (const auto& [is_there, what] : parts) {
    if (is_there) {
      problems.push_back(meaningless(what));
    }
  }
  // Reports each finding once, even if several pools have it.
  Problems once;
  for (auto& problem : problems) {
    if (std::ranges::none_of(
            once, [&](const Problem& other) { return other.message == problem.message; })) {
      once.push_back(std::move(problem));
    }
  }
  return once;
}

std::optional<std::string> output_in_containers(const job::Spec& spec) {
  auto path = spec.output ? below_scheme(spec.output->uri.value_or("")) : "";
  while (path.ends_with('/')) {
    path.pop_back();
  }
  return path.empty() ? std::nullopt : std::optional{"/gcs/" + path};
}

engine::ContainerSpec container_of(const job::Spec& spec,
                                   const Cluster& cluster,
                                   const Replica& replica,
                                   const HostResources& host,
                                   const std::optional<std::string>& trial) {
  const auto& pool = spec.pools.at(replica.pool);
  engine::ContainerSpec container{.host_ipc = false,
                                  .network_mode = non_empty(cluster.network),
                                  .host_name = non_empty(replica.host),
                                  .shared_memory = host.shared_memory,
                                  .memory = host.memory,
                                  .processors = host.processors,
                                  .labels = {{job_label, cluster.job}}};
  std::vector<job::Variable> own;
  if (pool.package) {
    start_package(*pool.package, container);
    own = pool.package->env;
  } else if (pool.container) {
    container.image = pool.container->image.value_or("");
    container.command = pool.container->command;
    container.arguments = pool.container->args;
    own = pool.container->env;
  }
  auto known = service_variables(
      pool, cluster, replica,
      {.project = host.project, .output = output_in_containers(spec), .trial = trial});
  mount(spec, host, container);
  known.merge(container.environment);
  container.environment = with_own(std::move(known), own);
  give_gpus(spec, cluster, replica, host, container);
  return container;
}

}  // namespace autopack::local
