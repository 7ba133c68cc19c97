#pragma once

#include "job/flag_value.hpp"
#include "job/flags.hpp"

#include <string_view>
#include <vector>

namespace autopack::job {

/// The keys of `--worker-pool-spec`, sorted.
std::vector<std::string_view> pool_keys();

/// One value of the flag: an object, or text (`,` between keys, `;` inside lists, `^D^` changes
/// `,`). Unknown keys and malformed parts are added to `problems` with the nearest key; what can be
/// read is returned.
PoolFlags parse_pool(const FlagValue& value, const Origin& origin, Problems& problems);

/// What `base` says where `top` is silent; the origin of `top` unless it has none.
PoolFlags overlaid(PoolFlags base, const PoolFlags& top);

}  // namespace autopack::job
