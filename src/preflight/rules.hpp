#pragma once

#include "preflight/planned_job.hpp"
#include "preflight/problems.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What facts at hand tell, nothing asked. Rules about machines,
/// accelerators, regions and prebuilt images' dates are those of job/.
namespace autopack::preflight {

/// Image names that Artifact Registry cannot take, and prebuilt images with a tag that is not there
/// (rows 4 and 7). `tables`: also hosts by the table of regions.
Problems check_image_names(const PlannedJob& job, bool tables);
/// The platform that is built for and the machines (row 1).
Problems check_platform(const PlannedJob& job);
/// Entry points that are a Python module or file, which no PATH holds (row 13).
Problems check_commands(const PlannedJob& job);
/// Prebuilt images for CPUs on machines with GPUs.
Problems check_prebuilt_accelerators(const PlannedJob& job);

/// All of these; with `tables` off (`--skip-checks`) only what no fact of the service is in.
Problems check_offline(const PlannedJob& job, bool tables);

/// What is known of an image.
struct ImageFacts {
  std::string name{};
  std::vector<std::string> platforms{};             ///< `linux/amd64`; empty when not known
  std::optional<std::string> cuda_version{};        ///< `10.2`
  std::optional<std::uint64_t> compressed_bytes{};  ///< of all layers
  bool is_index{false};                             ///< `platforms` are those of its images
};

/// CUDA's version as an image tells it: its variables, else its labels, else its name
/// (`nvidia/cuda:10.2-base`, `torch:1.4-cu101`); none when it does not.
std::optional<std::string> find_cuda_version(const std::vector<std::string>& environment,
                                             const std::map<std::string, std::string>& labels,
                                             const std::string& name);

/// Architecture, CUDA and size of an image against the pools that run it (rows 1 and 27, and A100
/// and newer need CUDA 11).
Problems check_image(const ImageFacts& image, const std::vector<const job::Pool*>& pools);

/// A quota that a job draws on.
struct QuotaNeed {
  std::string metric{};  ///< `custom_model_training_nvidia_t4_gpus`
  std::int64_t amount{0};
};

/// None for a job on a persistent resource, which has its machines already.
std::vector<QuotaNeed> quota_needs(const PlannedJob& job);

/// `metric` is a ConsumerQuotaMetric of the Service Usage API.
Problem judge_quota(const QuotaNeed& need,
                    const nlohmann::json& metric,
                    const job::Location& location);

/// What a policy (google.iam.v1.Policy) says of one account.
enum class Grant { yes, perhaps, no };  ///< perhaps: by a custom role, a group or a domain

Grant grant_of(const nlohmann::json& policy,
               const std::string& member,
               std::span<const std::string_view> roles);

}  // namespace autopack::preflight
