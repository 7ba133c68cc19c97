#pragma once

#include "cli/flags.hpp"
#include "job/pool_flags.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The value of a flag that sets a key of the job's only pool.
struct PoolOption {
  const job::PoolKey* key{nullptr};
  std::optional<std::string> text{};
  std::optional<std::int64_t> number{};
  job::FlagValues list{};
};

/// Returns one for each of job::described_pool_keys, in its order.
std::vector<PoolOption> pool_options();

/// Adds the flags of the most used keys, or of the others.
void add_pool_flags(FlagSet& flags, std::vector<PoolOption>& options, bool brief);

/// Returns true if `--worker-pool-spec` is typed or in its variable: the pools are complete, and
/// nothing about them is inferred.
bool names_pools(const FlagSet& typed);

/// Returns the pools of `--worker-pool-spec` from every place that names some; the first place
/// wins, key by key. Applies the individual flags to a single pool. Adds flags that are ambiguous
/// with several pools to `problems`.
std::vector<job::PoolFlags> read_pools(const FlagSet& typed, Problems& problems);

}  // namespace autopack::cli
