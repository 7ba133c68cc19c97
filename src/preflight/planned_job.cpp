#include "preflight/planned_job.hpp"

#include "base/contains.hpp"

#include <algorithm>

namespace autopack::preflight {

namespace {

void add_bucket(std::vector<std::string>& buckets, const std::string& uri) {
  static constexpr std::string_view scheme = "gs://";
  if (!uri.starts_with(scheme)) {
    return;
  }
  const auto name = uri.substr(scheme.size(), uri.find('/', scheme.size()) - scheme.size());
  if (!name.empty() && !contains(buckets, name)) {
    buckets.push_back(name);
  }
}

std::string create_permission(job::JobKind kind) {
  return "aiplatform." + std::string{job::collection_of(kind)} + ".create";
}

/// In the API, an empty text means none.
job::Text given(const job::Text& text) {
  return text && !text->empty() ? text : std::nullopt;
}

}  // namespace

std::optional<std::string> image_of(const job::Pool& pool) {
  if (pool.container && pool.container->image) {
    return pool.container->image;
  }
  return pool.package ? pool.package->executor_image : std::nullopt;
}

job::Machine machine_of(const job::Pool& pool) {
  return pool.machine.value_or(job::Machine{});
}

std::int64_t boot_disk_of(const job::Pool& pool) {
  constexpr std::int64_t default_gigabytes{100};
  return pool.disk ? pool.disk->size.value_or(default_gigabytes) : default_gigabytes;
}

std::vector<std::string> PlannedJob::ready_images() const {
  std::vector<std::string> images;
  for (const auto& pool : pools) {
    const auto image = image_of(pool);
    if (image && !contains(images, *image)) {
      images.push_back(*image);
    }
  }
  return images;
}

std::vector<const job::Pool*> PlannedJob::pools_of(const std::optional<std::string>& image) const {
  std::vector<const job::Pool*> result;
  for (const auto& pool : pools) {
    if (image_of(pool) == image) {
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
                     .service_account = given(spec.service_account),
                     .network = given(spec.network),
                     .tensorboard = given(spec.tensorboard),
                     .persistent_resource = given(spec.persistent_resource),
                     .preemptible = strategy == "SPOT" || strategy == "FLEX_START"};
  if (spec.output) {
    add_bucket(planned.buckets, spec.output->uri.value_or(""));
  }
  for (const auto& pool : spec.pools) {
    if (pool.is_empty()) {
      continue;
    }
    planned.pools.push_back(pool);
    for (const auto& uri : pool.package.value_or(job::PythonPackage{}).uris) {
      add_bucket(planned.buckets, uri);
    }
  }
  return planned;
}

}  // namespace autopack::preflight
