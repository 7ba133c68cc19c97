#include "cli/known_prices.hpp"

#include "base/file.hpp"
#include "base/json.hpp"
#include "job/candidates.hpp"
#include "job/make_job.hpp"
#include "job/pool_flags.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace autopack::cli {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::array machine_keys{"machine-type", "accelerator-type", "accelerator-count",
                                  "replica-count"};

/// Returns the machine that single keys of the files name.
job::PoolFlags pool_of_keys(const Session& session, Problems& problems) {
  job::PoolFlags pool;
  for (const auto& key : job::described_pool_keys()) {
    if (std::ranges::find(machine_keys, key.name) == machine_keys.end()) {
      continue;
    }
    const auto& places = session.flags.given_to_others("--" + std::string{key.name});
    if (!places.empty()) {
      job::FlagValues first{places.front().values.front()};  // of a list
      job::set_key(pool, key, first, places.front().origin, problems);
    }
  }
  if (pool.accelerator_type) {
    const auto names = job::candidate_names({*pool.accelerator_type});
    pool.accelerator_type = names.empty() ? std::nullopt : std::optional{names.front()};
  }
  return pool;
}

job::Pool pool_of(const job::PoolFlags& flags) {
  job::Pool pool{.replicas = flags.replica_count};
  pool.machine =
      job::Machine{.type = flags.machine_type ? *flags.machine_type : job::usual_machine(flags)};
  if (flags.accelerator_type) {
    pool.machine->accelerator = flags.accelerator_type;
    pool.machine->accelerators = flags.accelerator_count.value_or(1);
  }
  return pool;
}

}  // namespace

fs::path prices_file(const Environment& environment) {
  const auto state = environment.get("XDG_STATE_HOME");
  return (state ? fs::path{*state} : environment.home() / ".local" / "state") / "autopack" /
         "prices.json";
}

std::optional<job::PriceList> known_prices(const Environment& environment) {
  try {
    const auto text = read_file_if_exists(prices_file(environment));
    return text ? job::read_prices(parse_json(*text)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

void report_cost(const Session& session,
                 const job::Job& job,
                 const std::optional<std::string>& region,
                 json& object) {
  // A persistent resource is paid for with or without the job.
  const bool is_paid = !job.spec.persistent_resource.value_or("").empty();
  const auto prices =
      region && !is_paid ? known_prices(session.services.environment) : std::nullopt;
  if (!prices) {
    return;
  }
  const auto cost = job::hourly_cost(job, *region, *prices);
  session.console.done("Costs", job::to_string(cost, *region, *prices));
  auto unknown = cost.unknown;
  if (cost.lacks_fee) {
    unknown.emplace_back("fee of Vertex AI");
  }
  object["cost"] = {{"perHour", cost.amount ? json(*cost.amount) : json{}},
                    {"currency", cost.currency},
                    {"unknown", std::move(unknown)},
                    {"pricesOf", prices->date}};
}

std::optional<job::Job> job_of_settings(const Session& session, const job::PoolFlags& own) {
  Problems ignored;
  std::vector<job::PoolFlags> pools;
  if (const auto& places = session.flags.given_to_others("--worker-pool-spec"); !places.empty()) {
    for (const auto& value : places.front().values) {
      pools.push_back(job::parse_pool(value, places.front().origin, ignored));
    }
  }
  if (pools.empty()) {
    pools.emplace_back();
  }
  pools.front() = job::overlay(job::overlay(own, pool_of_keys(session, ignored)), pools.front());
  const bool names_machine = std::ranges::any_of(
      pools, [](const auto& pool) { return pool.machine_type || pool.accelerator_type; });
  if (!names_machine || has_errors(ignored)) {
    return std::nullopt;
  }
  job::Job job;
  std::ranges::transform(pools, std::back_inserter(job.spec.pools), pool_of);
  if (const auto& places = session.flags.given_to_others("--strategy"); !places.empty()) {
    job.spec.scheduling = job::Scheduling{.strategy = places.front().values.back().text()};
  }
  return job;
}

}  // namespace autopack::cli
