#pragma once

#include "job/legacy.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// One role's replicas in a scale tier.
struct TierRole {
  std::string_view machine{};
  std::optional<std::string_view> accelerator{};
  int accelerators{0};
  int replicas{0};
};

/// Returns master, workers and parameter servers of a scale tier; empty for CUSTOM and unknown
/// tiers.
std::vector<TierRole> tier_roles(std::string_view tier);

/// Returns the equivalent of a machine type of the legacy service or of Compute Engine.
Machine translate_machine(Legacy& legacy, const std::string& machine, const std::string& path);

/// Replaces an accelerator that no longer exists by its successor on Vertex AI.
void replace_old_accelerator(Legacy& legacy, Machine& machine, const std::string& path);

}  // namespace autopack::job
