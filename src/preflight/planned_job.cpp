#include "preflight/planned_job.hpp"

#include <algorithm>

namespace autopack::preflight {

namespace {

void add_bucket(std::vector<std::string>& buckets, const std::string& uri) {
  static constexpr std::string_view scheme = "gs://";
  if (!uri.starts_with(scheme)) {
    return;
  }
  const auto name = uri.substr(scheme.size(), uri.find('/', scheme.size()) - scheme.size());
  if (!name.empty() && std::find(buckets.begin(), buckets.end(), name) == buckets.end()) {
    buckets.push_back(name);
  }
}

PlannedPool read_pool(const job::Pool& pool) {
  const auto machine = pool.machine.value_or(job::Machine{});
  const auto disk = pool.disk.value_or(job::Disk{});
  const auto container = pool.container.value_or(job::Container{});
  const auto package = pool.package.value_or(job::PythonPackage{});
  return {.image = (container.image ? container.image : package.executor_image).value_or(""),
          .machine_type = machine.type.value_or(""),
          .accelerator_type = machine.accelerator.value_or(""),
          .accelerators = machine.accelerators.value_or(0),
          .replicas = pool.replicas.value_or(1),
          .boot_disk_gb = disk.size.value_or(default_boot_disk_gb),
          .command = container.command};
}

std::string create_permission(job::JobKind kind) {
  return "aiplatform." + std::string{job::collection_of(kind)} + ".create";
}

}  // namespace

std::vector<std::string> PlannedJob::ready_images() const {
  std::vector<std::string> images;
  for (const auto& pool : pools) {
    if (!pool.image.empty() &&
        std::find(images.begin(), images.end(), pool.image) == images.end()) {
      images.push_back(pool.image);
    }
  }
  return images;
}

std::vector<const PlannedPool*> PlannedJob::pools_of(const std::string& image) const {
  std::vector<const PlannedPool*> result;
  for (const auto& pool : pools) {
    if (pool.image == image) {
      result.push_back(&pool);
    }
  }
  return result;
}

PlannedJob read_job(const job::Job& job, const job::Location& location) {
  const auto& spec = job.spec;
  const auto strategy = spec.scheduling ? spec.scheduling->strategy.value_or("") : "";
  PlannedJob planned{.location = location,
                     .create_permission = create_permission(job.kind),
                     .parallel_trials = job.parallel_trials.value_or(1),
                     .service_account = spec.service_account.value_or(""),
                     .network = spec.network.value_or(""),
                     .tensorboard = spec.tensorboard.value_or(""),
                     .persistent_resource = spec.persistent_resource.value_or(""),
                     .preemptible = strategy == "SPOT" || strategy == "FLEX_START"};
  if (spec.output) {
    add_bucket(planned.buckets, spec.output->uri.value_or(""));
  }
  for (const auto& pool : spec.pools) {
    if (pool.is_empty()) {
      continue;
    }
    planned.pools.push_back(read_pool(pool));
    for (const auto& uri : pool.package.value_or(job::PythonPackage{}).uris) {
      add_bucket(planned.buckets, uri);
    }
  }
  return planned;
}

}  // namespace autopack::preflight
