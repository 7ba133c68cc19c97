#include "local/cluster.hpp"

#include "base/digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace autopack::local {

namespace {

constexpr std::size_t hash_length = 10;  // as in the service's names

}  // namespace

std::vector<std::size_t> limited_counts(std::vector<std::size_t> counts, std::size_t most) {
  while (most > 0 && std::accumulate(counts.begin(), counts.end(), std::size_t{0}) > most) {
    // Among equal pools, reduces the last one: workers matter most in a test run.
    const auto largest = std::max_element(counts.rbegin(), counts.rend());
    if (*largest <= 1) {
      break;
    }
    --*largest;
  }
  return counts;
}

Cluster plan_cluster(const std::vector<std::size_t>& counts,
                     const std::string& id,
                     const std::optional<std::string>& trial) {
  const auto hash = sha256(id + "/" + trial.value_or("")).hex().substr(0, hash_length);
  const auto own = "autopack-local-" + id + (trial ? "-" + *trial : "");
  Cluster cluster{.job = "local/" + id, .network = own};
  for (std::size_t pool = 0; pool < counts.size(); ++pool) {
    for (std::size_t index = 0; index < counts[pool]; ++index) {
      const auto name = fmt::format("workerpool{}-{}", pool, index);
      cluster.replicas.push_back(
          {.pool = pool,
           .index = index,
           .rank = cluster.replicas.size(),
           .name = name,
           .host = fmt::format("cmle-training-workerpool{}-{}-{}", pool, hash, index),
           .container = own + "-" + name});
    }
  }
  return cluster;
}

}  // namespace autopack::local
