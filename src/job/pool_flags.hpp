#pragma once

#include "job/flag_value.hpp"
#include "job/flags.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// A key of `--worker-pool-spec`, which is also a flag for jobs with one pool.
struct PoolKey {
  enum class Kind { text, number, list };

  std::string_view name{};   ///< `machine-type`
  std::string_view label{};  ///< `TYPE`
  std::string_view help{};
  Kind kind{Kind::text};
  bool brief{false};  ///< one of the most used keys
};

/// Returns all keys, in the order of the help.
const std::vector<PoolKey>& described_pool_keys();

bool is_pool_key(std::string_view name);

/// Returns the keys of `--worker-pool-spec`, sorted.
std::vector<std::string_view> pool_keys();

/// Sets `key` to the value of the flag with that name; reports an invalid value in `problems`.
void set_key(PoolFlags& pool,
             const PoolKey& key,
             const FlagValues& values,
             const Origin& origin,
             Problems& problems);

/// Parses one value of the flag: an object, or text (`,` between keys, `;` inside lists, `^D^`
/// changes `,`). Reports unknown keys, with the nearest one, and malformed parts in `problems`, and
/// returns the rest.
PoolFlags parse_pool(const FlagValue& value, const Origin& origin, Problems& problems);

/// Returns `base` with the keys of `top` replacing its own; each key keeps its origin.
PoolFlags overlay(PoolFlags base, const PoolFlags& top);

}  // namespace autopack::job
