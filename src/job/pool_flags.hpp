#pragma once

#include "job/flag_value.hpp"
#include "job/flags.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// A key of `--worker-pool-spec`, which is also a flag of its own for jobs with one pool.
struct PoolKey {
  enum class Kind { text, number, list };

  std::string_view name{};   ///< `machine-type`
  std::string_view label{};  ///< `TYPE`
  std::string_view help{};
  Kind kind{Kind::text};
  bool brief{false};  ///< among those that are used most
};

/// All keys, in the order of the help.
const std::vector<PoolKey>& described_pool_keys();

/// True for the name of a key.
bool is_pool_key(std::string_view name);

/// The keys of `--worker-pool-spec`, sorted.
std::vector<std::string_view> pool_keys();

/// Sets `key` to what a flag of that name was given; a value that it does not take is added to
/// `problems`.
void set_key(PoolFlags& pool,
             const PoolKey& key,
             const FlagValues& values,
             const Origin& origin,
             Problems& problems);

/// One value of the flag: an object, or text (`,` between keys, `;` inside lists, `^D^` changes
/// `,`). Unknown keys and malformed parts are added to `problems` with the nearest key; what can be
/// read is returned.
PoolFlags parse_pool(const FlagValue& value, const Origin& origin, Problems& problems);

/// What `base` says where `top` is silent; each key keeps its origin.
PoolFlags overlay(PoolFlags base, const PoolFlags& top);

}  // namespace autopack::job
