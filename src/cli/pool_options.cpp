#include "cli/pool_options.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::cli {

namespace {

using job::Origin;
using job::PoolFlags;
using job::PoolKey;

constexpr auto* spec = "--worker-pool-spec";

std::string flag_of(const PoolKey& key) {
  return "--" + std::string{key.name};
}

/// Merges the pools of every place that names some; the first place wins, key by key.
std::vector<PoolFlags> pools_of(const std::vector<FlagSetting>& places, Problems& problems) {
  std::vector<PoolFlags> pools;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    for (std::size_t i = 0; i < place->values.size(); ++i) {
      auto origin = place->origin;
      origin.number = place->values.size() == 1 ? std::nullopt : std::optional{i + 1};
      auto pool = job::parse_pool(place->values[i], origin, problems);
      if (i < pools.size()) {
        pools[i] = job::overlay(std::move(pools[i]), pool);
      } else {
        pools.push_back(std::move(pool));
      }
    }
  }
  return pools;
}

/// Returns the values of the keys' flags in places of the `kinds`; the first place wins.
PoolFlags own_flags(const FlagSet& typed,
                    std::initializer_list<Origin::Kind> kinds,
                    Problems& problems) {
  PoolFlags pool;
  for (const auto& key : job::described_pool_keys()) {
    const auto& places = typed.given(flag_of(key));
    const auto place = std::ranges::find_if(
        places, [&](const FlagSetting& one) { return contains(kinds, one.origin.kind); });
    if (place != places.end()) {
      job::set_key(pool, key, place->values, place->origin, problems);
    }
  }
  return pool;
}

/// Returns only the keys about the machine.
PoolFlags machine_of(const PoolFlags& file) {
  PoolFlags machine{file};
  static_cast<packaging::Settings&>(machine) = {};
  machine.container_image_uri.reset();
  return machine;
}

/// Removes keys that a flag replaces: a ready image replaces a project, and vice versa.
PoolFlags without_replaced(PoolFlags pool, const PoolFlags& flags) {
  if (flags.container_image_uri && pool.names_project()) {
    return machine_of(pool);
  }
  if (flags.names_project()) {
    pool.container_image_uri.reset();
  }
  return pool;
}

/// For a file without pools, makes one of its keys, each with its own line.
void report_lines(PoolFlags& pool, const PoolFlags& of_files) {
  const bool is_made = std::ranges::any_of(
      of_files.origins, [&](const auto& one) { return one.second == pool.origin; });
  if (is_made) {
    pool.origins.insert(of_files.origins.begin(), of_files.origins.end());
  }
}

void refuse(const PoolFlags& flags, std::size_t pools, Problems& problems) {
  for (const auto& [key, origin] : flags.origins) {
    Problem problem{
        .message = fmt::format("`--{}` and `{}` exclude each other: the flag would be for {} pool",
                               key, spec, pools == 1 ? "that" : "the first"),
        .hints = {fmt::format("give the key to the pool it is for: {}=...,{}=...", spec, key)}};
    if (origin.kind != Origin::Kind::flag) {
      problem.origin = to_string(origin);
    }
    problems.push_back(std::move(problem));
  }
}

}  // namespace

std::vector<PoolOption> pool_options() {
  std::vector<PoolOption> options;
  for (const auto& key : job::described_pool_keys()) {
    options.push_back({.key = &key});
  }
  return options;
}

void add_pool_flags(FlagSet& flags, std::vector<PoolOption>& options, bool brief) {
  for (auto& option : options) {
    const auto& key = *option.key;
    if (key.brief != brief) {
      continue;
    }
    const std::string label{key.label};
    const std::string help{key.help};
    switch (key.kind) {
      case PoolKey::Kind::list: flags.list(flag_of(key), label, option.list, help); break;
      case PoolKey::Kind::number: flags.number(flag_of(key), label, option.number, help); break;
      case PoolKey::Kind::text: flags.text(flag_of(key), label, option.text, help); break;
    }
  }
}

bool names_pools(const FlagSet& typed) {
  const auto origin = typed.origin(spec);
  return origin && (origin->kind == Origin::Kind::flag || origin->kind == Origin::Kind::variable);
}

std::vector<PoolFlags> read_pools(const FlagSet& typed, Problems& problems) {
  const auto& places = typed.given(spec);
  auto pools = pools_of(places, problems);
  const bool is_typed = !places.empty() && places.front().origin.kind == Origin::Kind::flag;
  // A variable is for every command: it does not apply to a typed pool.
  auto own = is_typed ? own_flags(typed, {Origin::Kind::flag}, problems)
                      : own_flags(typed, {Origin::Kind::flag, Origin::Kind::variable}, problems);
  const auto of_files = own_flags(typed, {Origin::Kind::file}, problems);
  if (pools.empty()) {
    auto pool = job::overlay(without_replaced(of_files, own), own);
    if (!pool.empty()) {
      pools.push_back(std::move(pool));
    }
    return pools;
  }
  if (!pools.front().empty()) {
    report_lines(pools.front(), of_files);
    auto below = machine_of(of_files);
    if (!pools.front().names_project() || !names_pools(typed)) {
      below.container_image_uri = of_files.container_image_uri;
    }
    pools.front() = job::overlay(std::move(below), pools.front());
  }
  if (own.empty()) {
    return pools;
  }
  if (names_pools(typed) || pools.size() > 1) {
    refuse(own, pools.size(), problems);
  } else {
    pools.front() = job::overlay(without_replaced(pools.front(), own), own);
  }
  return pools;
}

}  // namespace autopack::cli
