#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/tables.hpp"
#include "preflight/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::preflight {

using nlohmann::json;

namespace {

/// The part of a metric's name that means an accelerator. Source: the Vertex AI quotas page and the
/// names in the service's own refusals.
struct Accelerator {
  std::string_view type;
  std::string_view part;
};

constexpr std::array accelerators{Accelerator{"NVIDIA_TESLA_P4", "nvidia_p4_gpus"},
                                  Accelerator{"NVIDIA_TESLA_P100", "nvidia_p100_gpus"},
                                  Accelerator{"NVIDIA_TESLA_T4", "nvidia_t4_gpus"},
                                  Accelerator{"NVIDIA_TESLA_V100", "nvidia_v100_gpus"},
                                  Accelerator{"NVIDIA_L4", "nvidia_l4_gpus"},
                                  Accelerator{"NVIDIA_TESLA_A100", "nvidia_a100_gpus"},
                                  Accelerator{"NVIDIA_A100_80GB", "nvidia_a100_80gb_gpus"},
                                  Accelerator{"NVIDIA_H100_80GB", "nvidia_h100_gpus"},
                                  Accelerator{"NVIDIA_H100_MEGA_80GB", "nvidia_h100_mega_gpus"},
                                  Accelerator{"NVIDIA_H200_141GB", "nvidia_h200_gpus"},
                                  Accelerator{"NVIDIA_B200", "nvidia_b200_gpus"},
                                  Accelerator{"TPU_V2", "tpu_v2"},
                                  Accelerator{"TPU_V3", "tpu_v3"}};

/// Returns the number of CPUs from the last part of the name, for families in the metric `cpus`;
/// others have their own metrics.
std::int64_t cpus_of(const std::string& machine) {
  const auto digits = machine.substr(machine.rfind('-') + 1);
  const bool counts = (machine.starts_with("n1-") || machine.starts_with("e2-")) &&
                      digits.find_first_not_of("0123456789") == std::string::npos &&
                      !digits.empty() && digits.size() < 5;
  return counts ? std::stoll(digits) : 0;
}

std::int64_t limit_in(const json& bucket) {
  const auto value = bucket.value("effectiveLimit", json{});
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  // int64 as text; a missing value is proto3's zero
  const auto text = value.is_string() ? value.get<std::string>() : "0";
  const auto digits = text.starts_with('-') ? text.substr(1) : text;
  const bool good = !digits.empty() && digits.size() < 19 &&
                    digits.find_first_not_of("0123456789") == std::string::npos;
  return good ? std::stoll(text) : 0;
}

/// Returns limits by region; the one under "" applies to all other regions.
std::map<std::string, std::int64_t> limits_of(const json& metric) {
  std::map<std::string, std::int64_t> limits;
  for (const auto& limit : metric.value("consumerQuotaLimits", json::array())) {
    if (!limit.is_object()) {
      continue;
    }
    for (const auto& bucket : limit.value("quotaBuckets", json::array())) {
      if (!bucket.is_object()) {
        continue;
      }
      const auto dimensions = bucket.value("dimensions", json::object());
      const auto region = dimensions.is_object() ? dimensions.value("region", json{}) : json{};
      limits[region.is_string() ? region.get<std::string>() : ""] = limit_in(bucket);
    }
  }
  return limits;
}

bool is_enough(std::int64_t limit, std::int64_t amount) {
  return limit < 0 || limit >= amount;  // -1 means no limit
}

std::vector<std::string> quota_remedies(const QuotaNeed& need,
                                        const std::map<std::string, std::int64_t>& limits,
                                        const std::string& project,
                                        const std::string& here) {
  std::vector<std::string> remedies;
  for (const auto& [region, limit] : limits) {
    if (!region.empty() && region != here && is_enough(limit, need.amount) && remedies.size() < 3) {
      remedies.push_back("--region=" + printable(region));
    }
  }
  remedies.push_back(
      fmt::format("request more: https://console.cloud.google.com/iam-admin/"
                  "quotas?project={}&metric=aiplatform.googleapis.com/{}",
                  project, need.metric));
  return remedies;
}

}  // namespace

std::vector<QuotaNeed> quota_needs(const PlannedJob& job) {
  std::vector<QuotaNeed> needs;
  if (job.persistent_resource) {
    return needs;
  }
  const std::string prefix =
      fmt::format("custom_model_training_{}", job.preemptible ? "preemptible_" : "");
  const auto add = [&](std::string_view part, std::int64_t amount) {
    const auto metric = prefix + std::string{part};
    const auto found =
        std::ranges::find_if(needs, [&](const QuotaNeed& n) { return n.metric == metric; });
    if (amount <= 0) {
      return;
    }
    if (found == needs.end()) {
      needs.push_back({.metric = metric, .amount = amount});
    } else {
      found->amount += amount;
    }
  };
  for (const auto& pool : job.pools) {
    const auto replicas = pool.replicas.value_or(1) * job.parallel_trials;
    const auto machine = machine_of(pool);
    add("cpus", cpus_of(machine.type.value_or("")) * replicas);
    const auto* const found = std::ranges::find_if(
        accelerators, [&](const Accelerator& a) { return a.type == machine.accelerator; });
    if (found != accelerators.end()) {
      add(found->part, machine.accelerators.value_or(0) * replicas);
    }
  }
  return needs;
}

Problem judge_quota(const QuotaNeed& need, const json& metric, const job::Location& location) {
  const auto& region = location.region.value();
  const auto limits = limits_of(metric);
  auto found = limits.find(region);
  found = found == limits.end() ? limits.find("") : found;
  if (found == limits.end()) {
    return unknown("quota", fmt::format("quota `{}` in `{}`", need.metric, region),
                   "the response of the Service Usage API contains no limit");
  }
  if (is_enough(found->second, need.amount)) {
    return ok("quota", fmt::format("quota `{}` in `{}` is {}, the job needs {}", need.metric,
                                   region, found->second, need.amount));
  }
  return failing("quota",
                 fmt::format("quota `{}` in `{}` is {}, and the job needs {}", need.metric, region,
                             found->second, need.amount),
                 "the service would refuse the job (RESOURCE_EXHAUSTED)",
                 quota_remedies(need, limits, location.project.value(), region));
}

Grant grant_of(const json& policy,
               const std::string& member,
               std::span<const std::string_view> roles) {
  Grant best = Grant::no;
  for (const auto& binding : policy.value("bindings", json::array())) {
    if (!binding.is_object() || !binding.value("role", json{}).is_string()) {
      continue;
    }
    const auto role = binding["role"].get<std::string>();
    const bool fits = contains(roles, role);
    const bool is_custom = !role.starts_with("roles/");
    if (!fits && !is_custom) {
      continue;
    }
    for (const auto& entry : binding.value("members", json::array())) {
      const auto name = entry.is_string() ? entry.get<std::string>() : "";
      const bool is_all = name == "allUsers" || name == "allAuthenticatedUsers";
      if ((name == member || is_all) && fits) {
        return Grant::yes;
      }
      if (name == member || name.starts_with("group:") || name.starts_with("domain:") ||
          name.starts_with("principalSet:")) {
        best = Grant::perhaps;
      }
    }
  }
  return best;
}

}  // namespace autopack::preflight
