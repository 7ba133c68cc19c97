#pragma once

#include "image/reference.hpp"
#include "job/job.hpp"
#include "job/location.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::preflight {

inline constexpr std::int64_t default_boot_disk_gb = 100;  ///< the service's

/// What one worker pool asks for.
struct PlannedPool {
  std::string image{};  ///< as the user wrote it; empty for the packaged one
  std::string machine_type{};
  std::string accelerator_type{};
  std::int64_t accelerators{0};  ///< of one replica
  std::int64_t replicas{1};
  std::int64_t boot_disk_gb{default_boot_disk_gb};
  std::vector<std::string> command{};
};

/// The image that is still to be made and pushed.
struct PlannedImage {
  image::Reference target{};
  bool is_default_name{false};  ///< its repository is made when it is missing
  std::string executor{};       ///< the image it starts from; empty with a Dockerfile of the user's
  std::string platform{"linux/amd64"};
};

/// What checks must know of a job: facts of its body, nothing asked yet.
struct PlannedJob {
  job::Location location{};
  std::vector<PlannedPool> pools{};  ///< without placeholders
  std::optional<PlannedImage> packaged{};
  std::string create_permission{"aiplatform.customJobs.create"};
  std::int64_t parallel_trials{1};
  std::string service_account{};
  std::string network{};
  std::string tensorboard{};
  std::string persistent_resource{};
  bool preemptible{false};             ///< SPOT and FLEX_START draw on another quota
  std::vector<std::string> buckets{};  ///< names, each once

  /// The images that exist already and are run as they are, each once.
  std::vector<std::string> ready_images() const;
  /// The pools that run `image`; empty stands for the packaged one.
  std::vector<const PlannedPool*> pools_of(const std::string& image) const;
};

/// The facts of a job that checks must know; nothing of an image that is still to be made.
PlannedJob read_job(const job::Job& job, const job::Location& location);

}  // namespace autopack::preflight
