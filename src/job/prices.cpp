#include "job/prices.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/machine_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace autopack::job {

using nlohmann::json;

namespace {

constexpr std::array<std::pair<Charge, std::string_view>, 5> charge_names{
    {{Charge::training, "training"},
     {Charge::fee, "fee"},
     {Charge::on_demand, "on-demand"},
     {Charge::spot, "spot"},
     {Charge::flex_start, "flex-start"}}};

/// An amount in 10^-12 of the currency's unit, so that the price of a thousandth is exact.
constexpr std::int64_t thousandths{1000};
constexpr std::int64_t per_hundredth{10'000'000'000};

/// The prices of one kind, and what they lack.
struct Sum {
  std::int64_t amount{0};
  std::set<std::string> currencies{};
  std::vector<std::string> unknown{};
};

/// A part of a machine, and how many thousandths of it a job has.
struct Share {
  std::string part{};
  std::int64_t amount{0};
};

std::string words_of(const std::string& part) {
  const auto space = part.find(' ');
  const auto kind = part.substr(0, space);
  const auto name = part.substr(space + 1);
  return kind == "gpu" ? "GPU " + name : kind == "core" ? "CPUs of " + name : "memory of " + name;
}

/// Returns nothing if the list has none, or several that differ.
std::optional<Price> find_price(const PriceList& list,
                                Charge charge,
                                const std::string& part,
                                const std::string& region) {
  std::optional<Price> found;
  for (const auto& price : list.prices) {
    if (price.charge != charge || price.part != part || !contains(price.regions, region)) {
      continue;
    }
    if (found && (found->nanos != price.nanos || found->currency != price.currency)) {
      return std::nullopt;
    }
    found = price;
  }
  return found;
}

Sum sum_of(const std::vector<Share>& shares,
           Charge charge,
           const std::string& region,
           const PriceList& list) {
  Sum sum;
  for (const auto& share : shares) {
    const auto price = find_price(list, charge, share.part, region);
    std::int64_t product = 0;
    const bool fits = price && !__builtin_mul_overflow(price->nanos, share.amount, &product) &&
                      !__builtin_add_overflow(sum.amount, product, &sum.amount);
    if (!fits) {
      sum.unknown.push_back(words_of(share.part));
    } else {
      sum.currencies.insert(price->currency);
    }
  }
  return sum;
}

/// Adds the parts of one pool to `shares`, and machines without a known size to `unknown`.
void add_shares(const Pool& pool,
                std::int64_t factor,
                std::vector<Share>& shares,
                std::vector<std::string>& unknown) {
  const auto machine = pool.machine.value_or(Machine{});
  const auto type = machine.type.value_or("");
  const auto replicas = pool.replicas.value_or(1);
  std::int64_t count = 0;
  const auto size = find_machine_size(type);
  if (!size || replicas < 1 || factor < 1 || __builtin_mul_overflow(replicas, factor, &count) ||
      count > 1'000'000) {
    unknown.push_back("machine type " + printable(type));
    return;
  }
  const auto add = [&](const std::string& part, std::int64_t amount) {
    const auto found = std::ranges::find(shares, part, &Share::part);
    if (found == shares.end()) {
      shares.push_back({part, amount * count});
    } else {
      found->amount += amount * count;
    }
  };
  add("core " + std::string{size->family}, size->cpus * thousandths);
  add("ram " + std::string{size->family}, size->memory);
  const auto accelerator = machine.accelerator.value_or("");
  if (!accelerator.empty()) {
    const auto number = machine.accelerators.value_or(1);
    if (number < 1 || number > thousandths) {
      unknown.push_back("GPU " + printable(accelerator));
    } else {
      add("gpu " + accelerator, number * thousandths);
    }
  }
}

std::string machines_of(const Job& job) {
  std::vector<std::string> texts;
  for (const auto& pool : job.spec.pools) {
    if (pool.is_empty()) {
      continue;
    }
    const auto machine = pool.machine.value_or(Machine{});
    const auto replicas = pool.replicas.value_or(1);
    auto text = replicas > 1 ? fmt::format("{} x ", replicas) : std::string{};
    text += printable(machine.type.value_or(""));
    if (machine.accelerator) {
      text += fmt::format(", {} x {}{}", machine.accelerators.value_or(1),
                          printable(*machine.accelerator), replicas > 1 ? " each" : "");
    }
    texts.push_back(std::move(text));
  }
  const auto trials = is_tuning(job.kind) ? job.parallel_trials.value_or(1) : 1;
  return (trials > 1 ? fmt::format("{} trials of ", trials) : "") + join(texts, "; ");
}

/// Rounds half up.
std::string decimal(std::int64_t amount) {
  const auto hundredths = amount / per_hundredth + (amount % per_hundredth * 2 >= per_hundredth);
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

Charge charge_of(const Job& job) {
  const auto strategy = job.spec.scheduling ? job.spec.scheduling->strategy.value_or("") : "";
  return strategy == "SPOT"         ? Charge::spot
         : strategy == "FLEX_START" ? Charge::flex_start
                                    : Charge::on_demand;
}

}  // namespace

HourlyCost hourly_cost(const Job& job, const std::string& region, const PriceList& list) {
  HourlyCost cost{.machines = machines_of(job)};
  std::vector<Share> shares;
  const auto trials = is_tuning(job.kind) ? job.parallel_trials.value_or(1) : 1;
  for (const auto& pool : job.spec.pools) {
    if (!pool.is_empty()) {
      add_shares(pool, trials, shares, cost.unknown);
    }
  }
  const auto charge = charge_of(job);
  auto sum = sum_of(shares, Charge::training, region, list);
  if (charge != Charge::on_demand || !sum.unknown.empty()) {
    auto machines = sum_of(shares, charge, region, list);
    const auto fee = sum_of(shares, Charge::fee, region, list);
    cost.lacks_fee = !fee.unknown.empty() ||
                     __builtin_add_overflow(machines.amount, fee.amount, &machines.amount);
    if (!cost.lacks_fee) {
      machines.currencies.insert(fee.currencies.begin(), fee.currencies.end());
    }
    // If both sums are incomplete, the list is probably meant for the one that lacks less.
    const bool is_better =
        charge != Charge::on_demand || machines.unknown.size() < sum.unknown.size();
    cost.lacks_fee = is_better && cost.lacks_fee;
    if (is_better) {
      sum = std::move(machines);
    }
  }
  cost.unknown.insert(cost.unknown.end(), sum.unknown.begin(), sum.unknown.end());
  if (cost.unknown.empty() && sum.currencies.size() > 1) {
    cost.unknown.emplace_back("one currency for all parts");
  }
  if (cost.unknown.empty() && !shares.empty()) {
    cost.amount = decimal(sum.amount);
    cost.currency = *sum.currencies.begin();
  }
  return cost;
}

std::string to_string(const HourlyCost& cost, const std::string& region, const PriceList& list) {
  const auto where = fmt::format("({}, {}; prices of {})", cost.machines, region, list.date);
  if (!cost.amount) {
    return fmt::format("unknown: no price of {} {}",
                       cost.unknown.empty() ? "anything" : join(cost.unknown, ", "), where);
  }
  const auto amount = cost.currency == "USD" ? "$" + *cost.amount
                                             : fmt::format("{} {}", *cost.amount, cost.currency);
  return fmt::format("about {} an hour{} {}", amount,
                     cost.lacks_fee ? " and Vertex AI's fee, which the prices lack" : "", where);
}

json write_prices(const PriceList& list) {
  auto prices = json::array();
  for (const auto& price : list.prices) {
    const auto* const name =
        std::ranges::find(charge_names, price.charge, &std::pair<Charge, std::string_view>::first);
    prices.push_back({{"charge", std::string{name->second}},
                      {"part", price.part},
                      {"regions", price.regions},
                      {"nanos", price.nanos},
                      {"currency", price.currency}});
  }
  return {{"version", 1}, {"date", list.date}, {"prices", std::move(prices)}};
}

std::optional<PriceList> read_prices(const json& value) {
  try {
    if (value.at("version") != 1) {
      return std::nullopt;
    }
    PriceList list{.date = value.at("date").get<std::string>()};
    for (const auto& one : value.at("prices")) {
      const auto charge = one.at("charge").get<std::string>();
      const auto* const name =
          std::ranges::find(charge_names, charge, &std::pair<Charge, std::string_view>::second);
      if (name == charge_names.end()) {
        return std::nullopt;
      }
      list.prices.push_back({.charge = name->first,
                             .part = one.at("part").get<std::string>(),
                             .regions = one.at("regions").get<std::vector<std::string>>(),
                             .nanos = one.at("nanos").get<std::int64_t>(),
                             .currency = one.at("currency").get<std::string>()});
    }
    return list;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace autopack::job
