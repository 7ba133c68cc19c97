#pragma once

#include "job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the machines of a job cost, from a list of prices that the user provides.
namespace autopack::job {

/// The kinds of prices that apply to a job's machines.
enum class Charge {
  training,  ///< Vertex AI's whole price
  fee,       ///< Vertex AI's fee, which is added to a price of Compute Engine
  on_demand,
  spot,
  flex_start,
};

/// A price for an hour.
struct Price {
  Charge charge{Charge::training};
  std::string part{};  ///< `core n1`, `ram n1`: for a GB; `gpu NVIDIA_TESLA_T4`
  std::vector<std::string> regions{};
  std::int64_t nanos{0};  ///< billionths of the currency's unit
  std::string currency{};
};

struct PriceList {
  std::string date{};  ///< `2026-11-20`
  std::vector<Price> prices{};
};

/// Returns the price in an SKU of the Cloud Billing Catalog API; nothing if it is not of a machine
/// that training uses, or not a plain price for an hour.
std::optional<Price> read_sku(const nlohmann::json& sku);

/// Returns the prices in a catalogue as Google serves it: a page, a list of pages, or several pages
/// one after the other. Returns nothing if `text` is not such JSON.
std::optional<std::vector<Price>> read_catalogue(std::string_view text);

nlohmann::json write_prices(const PriceList& list);
/// Returns nothing for another JSON than that of write_prices.
std::optional<PriceList> read_prices(const nlohmann::json& value);

/// The cost of a job's machines for an hour, without disks, network and storage.
struct HourlyCost {
  std::string machines{};               ///< `n1-standard-8, 1 x NVIDIA_TESLA_T4`
  std::optional<std::string> amount{};  ///< `3.67`; absent if a price is unknown
  std::string currency{};
  std::vector<std::string> unknown{};  ///< what has no price: `GPU NVIDIA_B200`
  /// The prices are Compute Engine's, and the list lacks the fee of Vertex AI.
  bool lacks_fee{false};
};

/// Returns the cost of all replicas of a job in `region`, with the price of its strategy.
HourlyCost hourly_cost(const Job& job, const std::string& region, const PriceList& list);

/// Returns it for people: `about $3.67 an hour (n1-standard-8, us-east1; prices of 2026-11-20)`.
std::string to_string(const HourlyCost& cost, const std::string& region, const PriceList& list);

}  // namespace autopack::job
