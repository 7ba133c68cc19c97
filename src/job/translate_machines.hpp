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

/// Master, workers, parameter servers of a scale tier that is not CUSTOM; empty for others.
std::vector<TierRole> tier_roles(std::string_view tier);

/// What stands for a machine type in the legacy service's names or Compute Engine's.
Machine translate_machine(Legacy& legacy, const std::string& machine, const std::string& path);

/// Puts what Vertex AI has in the place of an accelerator that is gone.
void replace_old_accelerator(Legacy& legacy, Machine& machine, const std::string& path);

}  // namespace autopack::job
