#include "job/cluster.hpp"

#include <algorithm>

namespace autopack::job {

std::vector<std::size_t> replica_counts(const Spec& spec) {
  std::vector<std::size_t> counts;
  for (const auto& pool : spec.pools) {
    const auto wanted = std::max<std::int64_t>(pool.replicas.value_or(1), 1);
    counts.push_back(pool.is_empty() ? 0 : static_cast<std::size_t>(wanted));
  }
  return counts;
}

}  // namespace autopack::job
