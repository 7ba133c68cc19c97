#include "preflight/planned_job.hpp"

#include "base/json.hpp"

#include <algorithm>

namespace autopack::preflight {

using nlohmann::json;

namespace {

const json& member(const json& object, const char* key) {
  static const json none = json::object();
  if (!object.is_object()) {
    return none;
  }
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

std::string text(const json& object, const char* key) {
  const auto& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

/// int64 is a string in the API's JSON, int32 a number.
std::int64_t number(const json& object, const char* key, std::int64_t otherwise) {
  const auto& value = member(object, key);
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  const auto digits = text(object, key);
  const bool is_number = !digits.empty() && digits.size() < 18 &&
                         digits.find_first_not_of("0123456789") == std::string::npos;
  return is_number ? std::stoll(digits) : otherwise;
}

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

PlannedPool read_pool(const json& pool) {
  const auto& machine = member(pool, "machineSpec");
  const auto& container = member(pool, "containerSpec");
  PlannedPool planned{.image = container.contains("imageUri")
                                   ? text(container, "imageUri")
                                   : text(member(pool, "pythonPackageSpec"), "executorImageUri"),
                      .machine_type = text(machine, "machineType"),
                      .accelerator_type = text(machine, "acceleratorType"),
                      .accelerators = number(machine, "acceleratorCount", 0),
                      .replicas = number(pool, "replicaCount", 1),
                      .boot_disk_gb = number(member(pool, "diskSpec"), "bootDiskSizeGb", 100)};
  for (const auto& word : member(container, "command")) {
    planned.command.push_back(word.is_string() ? word.get<std::string>() : "");
  }
  return planned;
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

PlannedJob read_job_spec(const json& spec, const job::Location& location) {
  PlannedJob planned{.location = location,
                     .service_account = text(spec, "serviceAccount"),
                     .network = text(spec, "network"),
                     .tensorboard = text(spec, "tensorboard"),
                     .persistent_resource = text(spec, "persistentResourceId")};
  const auto strategy = text(member(spec, "scheduling"), "strategy");
  planned.preemptible = strategy == "SPOT" || strategy == "FLEX_START";
  add_bucket(planned.buckets, text(member(spec, "baseOutputDirectory"), "outputUriPrefix"));
  for (const auto& pool : member(spec, "workerPoolSpecs")) {
    if (pool.empty()) {
      continue;
    }
    planned.pools.push_back(read_pool(pool));
    for (const auto& uri : member(member(pool, "pythonPackageSpec"), "packageUris")) {
      add_bucket(planned.buckets, uri.is_string() ? uri.get<std::string>() : "");
    }
  }
  return planned;
}

PlannedJob read_resource(const json& resource, const job::Location& location) {
  if (resource.contains("trialJobSpec")) {
    auto planned = read_job_spec(member(resource, "trialJobSpec"), location);
    planned.create_permission = "aiplatform.hyperparameterTuningJobs.create";
    planned.parallel_trials = number(resource, "parallelTrialCount", 1);
    return planned;
  }
  if (resource.contains("trainingTaskInputs")) {
    const auto& inputs = member(resource, "trainingTaskInputs");
    auto planned = inputs.contains("trialJobSpec") ? read_resource(inputs, location)
                                                   : read_job_spec(inputs, location);
    planned.create_permission = "aiplatform.trainingPipelines.create";
    return planned;
  }
  return read_job_spec(member(resource, "jobSpec"), location);
}

}  // namespace autopack::preflight
