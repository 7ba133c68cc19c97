#pragma once

#include "image/reference.hpp"
#include "job/job.hpp"
#include "job/location.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::preflight {

/// The image that `pool` runs, as the user wrote it; none for the one that is packaged.
std::optional<std::string> image_of(const job::Pool& pool);
/// Its machines; one with no field where none are named.
job::Machine machine_of(const job::Pool& pool);
/// Gigabytes; the service's default where the user named none.
std::int64_t boot_disk_of(const job::Pool& pool);

/// The image that is still to be made and pushed.
struct PlannedImage {
  image::Reference target{};
  bool is_default_name{false};  ///< its repository is made when it is missing
  /// The image it starts from; none with a Dockerfile of the user's.
  std::optional<std::string> executor{};
  std::string platform{"linux/amd64"};
};

/// What checks must know of a job: facts of its body, nothing asked yet.
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
  bool preemptible{false};             ///< SPOT and FLEX_START draw on another quota
  std::vector<std::string> buckets{};  ///< names, each once

  /// Where it goes, which is known of a job that services are asked about.
  const std::string& project() const { return location.project.value(); }

  const std::string& region() const { return location.region.value(); }

  /// The images that exist already and are run as they are, each once.
  std::vector<std::string> ready_images() const;
  /// The pools that run `image`; none stands for the packaged one.
  std::vector<const job::Pool*> pools_of(const std::optional<std::string>& image) const;
};

/// The facts of a job that checks must know; nothing of an image that is still to be made.
PlannedJob read_job(const job::Job& job, const job::Location& location);

}  // namespace autopack::preflight
