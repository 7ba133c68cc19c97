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

/// Rules that need no request. The rules on machines, accelerators, regions and prebuilt images'
/// dates are in job/.
namespace autopack::preflight {

/// Finds image names that Artifact Registry does not accept, and prebuilt images with a missing
/// tag. `tables`: also checks hosts against the table of regions.
Problems check_image_names(const PlannedJob& job, bool tables);
/// Checks that the built platform fits the machines.
Problems check_platform(const PlannedJob& job);
/// Finds entry points that are a Python module or file, which are not in PATH.
Problems check_commands(const PlannedJob& job);
/// Finds prebuilt images for CPUs on machines with GPUs.
Problems check_prebuilt_accelerators(const PlannedJob& job);

/// Runs all of these; with `tables` off (`--skip-checks`) only those without facts of the service.
Problems check_offline(const PlannedJob& job, bool tables);

/// The known facts of an image.
struct ImageFacts {
  std::string name{};
  std::vector<std::string> platforms{};             ///< `linux/amd64`; empty if unknown
  std::optional<std::string> cuda_version{};        ///< `10.2`
  std::optional<std::uint64_t> compressed_bytes{};  ///< all layers
  bool is_index{false};                             ///< `platforms` are those of its images
};

/// Returns the CUDA version of an image, from its variables, else its labels, else its name
/// (`nvidia/cuda:10.2-base`, `torch:1.4-cu101`); nothing if none of them names it.
std::optional<std::string> find_cuda_version(const std::vector<std::string>& environment,
                                             const std::map<std::string, std::string>& labels,
                                             const std::string& name);

/// Checks architecture, CUDA and size of an image against the pools that run it. A100 and newer
/// GPUs need CUDA 11.
Problems check_image(const ImageFacts& image, const std::vector<const job::Pool*>& pools);

/// A quota that a job uses.
struct QuotaNeed {
  std::string metric{};  ///< `custom_model_training_nvidia_t4_gpus`
  std::int64_t amount{0};
};

/// Returns nothing for a job on a persistent resource, which already has its machines.
std::vector<QuotaNeed> quota_needs(const PlannedJob& job);

/// Compares the need with `metric`, a ConsumerQuotaMetric of the Service Usage API.
Problem judge_quota(const QuotaNeed& need,
                    const nlohmann::json& metric,
                    const job::Location& location);

/// The permission of one account in a policy (google.iam.v1.Policy).
enum class Grant { yes, perhaps, no };  ///< perhaps: through a custom role, a group or a domain

Grant grant_of(const nlohmann::json& policy,
               const std::string& member,
               std::span<const std::string_view> roles);

}  // namespace autopack::preflight
