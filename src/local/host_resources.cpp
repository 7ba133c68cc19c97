#include "local/host_resources.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace autopack::local {

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
