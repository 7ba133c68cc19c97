#pragma once

#include "cli/flags.hpp"
#include "job/pool_flags.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// Where FlagSet puts the value of a flag that is a key of the job's only pool.
struct PoolOption {
  const job::PoolKey* key{nullptr};
  std::optional<std::string> text{};
  std::optional<std::int64_t> number{};
  job::FlagValues list{};
};

/// One for each of job::described_pool_keys, in its order.
std::vector<PoolOption> pool_options();

/// The flags of the keys that are used most, or of the others.
void add_pool_flags(FlagSet& flags, std::vector<PoolOption>& options, bool brief);

/// True when `--worker-pool-spec` is typed or stands in its variable, so that the job is all there:
/// nothing of its pools is inferred.
bool names_pools(const FlagSet& typed);

/// The pools of `--worker-pool-spec` in every place that names some, the first place winning key by
/// key, and over the only one of them what flags of its own say. Flags that could be meant for
/// several pools are added to `problems`.
std::vector<job::PoolFlags> read_pools(const FlagSet& typed, Problems& problems);

}  // namespace autopack::cli
