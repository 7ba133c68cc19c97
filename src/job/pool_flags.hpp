#pragma once

#include "job/job.hpp"

#include <string_view>
#include <vector>

namespace autopack::job {

/// The keys of `--worker-pool-spec`, sorted.
std::vector<std::string_view> pool_keys();

/// What `base` says where `top` is silent; the origin of `top` unless it has none.
PoolFlags overlaid(PoolFlags base, const PoolFlags& top);

}  // namespace autopack::job
