#pragma once

#include "image/reference.hpp"
#include "job/job.hpp"
#include "job/location.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::preflight {

/// Returns the image of `pool` as the user wrote it; nothing for the packaged one.
std::optional<std::string> image_of(const job::Pool& pool);
/// Returns the machines of `pool`; empty fields if it names none.
job::Machine machine_of(const job::Pool& pool);
/// Returns gigabytes; the service's default if the user named none.
std::int64_t boot_disk_of(const job::Pool& pool);

/// The image that will be built and pushed.
struct PlannedImage {
  image::Reference target{};
  bool is_default_name{false};  ///< its repository is created if it is missing
  /// The executor image; absent with the user's own Dockerfile.
  std::optional<std::string> executor{};
  std::string platform{"linux/amd64"};
  bool uses_cloud_build{false};  ///< for what needs an engine
};

/// The facts of a job that checks need, from its body alone.
struct PlannedJob {
  job::Location location{};
  std::vector<job::Pool> pools{};  ///< without placeholders
  std::optional<PlannedImage> packaged{};
  std::string create_permission{"aiplatform.customJobs.create"};
  std::int64_t parallel_trials{1};
  std::optional<std::string> service_account{};
  std::optional<std::string> network{};
  std::optional<std::string> tensorboard{};
  std::optional<std::string> persistent_resource{};
  bool preemptible{false};             ///< SPOT and FLEX_START have a separate quota
  std::vector<std::string> buckets{};  ///< names, without duplicates

  /// Returns the project; every job in online checks has one.
  const std::string& project() const { return location.project.value(); }

  const std::string& region() const { return location.region.value(); }

  /// Returns the existing images that run unchanged, without duplicates.
  std::vector<std::string> ready_images() const;
  /// Returns the pools that run `image`; without a value, those of the packaged image.
  std::vector<const job::Pool*> pools_of(const std::optional<std::string>& image) const;
};

/// Returns the facts about the job, but not about an image that is still to be built.
PlannedJob read_job(const job::Job& job, const job::Location& location);

}  // namespace autopack::preflight
