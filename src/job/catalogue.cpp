#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/prices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

// An SKU says what it is for only in its description:
//   Vertex AI: Training/Pipelines on N1 Predefined Instance Core running in Americas
//   Vertex AI: Training/Pipelines on NVIDIA H100 80GB in Iowa
//   Vertex AI: Training/Pipelines Management fee on E2 Instance RAM in Singapore
//   N1 Predefined Instance Core running in Americas
//   Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Americas
//   DWS Defined Duration A3 Core running in Americas

namespace autopack::job {

using nlohmann::json;

namespace {

using Words = std::vector<std::string>;
using Name = std::pair<std::string_view, std::string_view>;

constexpr std::string_view training_prefix{"vertex ai: training/pipelines "};
constexpr std::string_view fee_prefix{"management fee on "};
constexpr std::string_view on_prefix{"on "};

constexpr std::array<Name, 14> families{{{"n1", "n1"},
                                         {"n2", "n2"},
                                         {"n4", "n4"},
                                         {"e2", "e2"},
                                         {"c2", "c2"},
                                         {"compute optimized", "c2"},
                                         {"memory-optimized", "m1"},
                                         {"a2", "a2"},
                                         {"a3", "a3"},
                                         {"a3plus", "a3plus"},
                                         {"a3ultra", "a3ultra"},
                                         {"a4", "a4"},
                                         {"g2", "g2"},
                                         {"g4", "g4"}}};

constexpr std::array<Name, 15> accelerators{{{"t4", "NVIDIA_TESLA_T4"},
                                             {"p4", "NVIDIA_TESLA_P4"},
                                             {"p100", "NVIDIA_TESLA_P100"},
                                             {"v100", "NVIDIA_TESLA_V100"},
                                             {"l4", "NVIDIA_L4"},
                                             {"a100", "NVIDIA_TESLA_A100"},
                                             {"a100 80gb", "NVIDIA_A100_80GB"},
                                             {"h100 80gb", "NVIDIA_H100_80GB"},
                                             {"h100 80gb mega", "NVIDIA_H100_MEGA_80GB"},
                                             {"h100 mega 80gb", "NVIDIA_H100_MEGA_80GB"},
                                             {"h100 80gb plus", "NVIDIA_H100_MEGA_80GB"},
                                             {"h200 141gb", "NVIDIA_H200_141GB"},
                                             {"h200", "NVIDIA_H200_141GB"},
                                             {"b200", "NVIDIA_B200"},
                                             {"rtx pro 6000", "NVIDIA_RTX_PRO_6000"}}};

/// Words that do not distinguish the parts.
constexpr std::array<std::string_view, 15> fillers{
    "predefined", "instance", "instances", "spot",   "preemptible", "dws", "defined", "duration",
    "attached",   "to",       "vms",       "nvidia", "tesla",       "gpu", "gpus"};

/// Returns the text before ` running in Americas` or ` in Iowa`.
std::string_view without_place(std::string_view text) {
  for (const std::string_view mark : {" running in ", " in "}) {
    if (const auto at = text.rfind(mark); at != std::string_view::npos) {
      return text.substr(0, at);
    }
  }
  return text;
}

template <std::size_t size>
std::string named(const std::array<Name, size>& names, const std::string& text) {
  const auto found = std::ranges::find(names, text, &Name::first);
  return found == names.end() ? std::string{} : std::string{found->second};
}

/// Returns `core n1` or `gpu NVIDIA_L4`; empty for anything else.
std::string part_of(std::string_view text) {
  Words words;
  for (auto& word : split(text, ' ')) {
    if (!word.empty() && !contains(fillers, word)) {
      words.push_back(std::move(word));
    }
  }
  if (words.empty()) {
    return {};
  }
  const bool is_cpu = words.back() == "core" || words.back() == "ram";
  if (!is_cpu) {
    const auto accelerator = named(accelerators, join(words, " "));
    return accelerator.empty() ? "" : "gpu " + accelerator;
  }
  const auto kind = words.back();
  words.pop_back();
  const auto family = named(families, join(words, " "));
  return family.empty() ? "" : kind + " " + family;
}

/// Returns the charge of a description in lower case, and removes its prefix.
std::optional<Charge> charge_of(std::string_view& text, const std::string& usage) {
  if (text.starts_with(training_prefix)) {
    text.remove_prefix(training_prefix.size());
    const bool is_fee = text.starts_with(fee_prefix);
    if (!is_fee && !text.starts_with(on_prefix)) {
      return std::nullopt;
    }
    text.remove_prefix(is_fee ? fee_prefix.size() : on_prefix.size());
    return is_fee ? Charge::fee : Charge::training;
  }
  if (text.find("dws defined duration") != std::string_view::npos) {
    return Charge::flex_start;
  }
  const bool is_spot = text.find("preemptible") != std::string_view::npos;
  if (usage == "Preemptible") {
    return Charge::spot;
  }
  return usage == "OnDemand" && !is_spot ? std::optional{Charge::on_demand} : std::nullopt;
}

/// Returns an int64, which JSON may have as text.
std::optional<std::int64_t> integer(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) {
    return 0;  // proto3's zero
  }
  if (found->is_number_integer()) {
    return found->get<std::int64_t>();
  }
  const auto text = found->is_string() ? found->get<std::string>() : "";
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc{} && end == text.data() + text.size() && !text.empty()
             ? std::optional{number}
             : std::nullopt;
}

/// Sets the amount of the newest price; returns false if it is not one plain rate for an hour.
bool read_rate(const json& sku, const std::string& part, Price& price) {
  const auto infos = sku.find("pricingInfo");
  if (infos == sku.end() || !infos->is_array() || infos->empty() || !infos->back().is_object()) {
    return false;
  }
  const auto expression = infos->back().value("pricingExpression", json::object());
  const auto unit = text_at(expression, "usageUnit");
  const bool is_memory = part.starts_with("ram ");
  if (is_memory ? unit != "GiBy.h" && unit != "GBy.h" : unit != "h") {
    return false;
  }
  if (!expression.is_object()) {
    return false;
  }
  const auto rates = expression.value("tieredRates", json::array());
  if (!rates.is_array() || rates.size() != 1 || !rates.front().is_object()) {
    return false;
  }
  const auto amount = rates.front().value("unitPrice", json::object());
  if (!amount.is_object()) {
    return false;
  }
  constexpr std::int64_t billion{1'000'000'000};
  const auto units = integer(amount, "units");
  const auto nanos = integer(amount, "nanos");
  price.currency = text_at(amount, "currencyCode");
  const bool is_sound = units && nanos && *units >= 0 && *units < 1'000'000 && *nanos >= 0 &&
                        *nanos < billion && price.currency.size() == 3 &&
                        is_alphanumeric(price.currency);
  price.nanos = is_sound ? *units * billion + *nanos : 0;
  return is_sound;
}

/// Returns the documents in a text that has one after the other.
std::vector<std::string_view> documents(std::string_view text) {
  std::vector<std::string_view> all;
  std::size_t depth = 0;
  std::size_t begin = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_string) {
      i += c == '\\' ? 1 : 0;
      is_string = c != '"';
    } else if (c == '"') {
      is_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      all.push_back(text.substr(begin, i + 1 - begin));
      begin = i + 1;
    }
  }
  if (!trim(text.substr(begin)).empty()) {
    all.push_back(text.substr(begin));  // half a document, or none
  }
  return all;
}

}  // namespace

std::optional<Price> read_sku(const json& sku) {
  const auto description = to_lower(text_at(sku, "description"));
  const auto category = sku.find("category");
  const auto usage = category == sku.end() ? "" : text_at(*category, "usageType");
  std::string_view text{description};
  const auto charge = charge_of(text, usage);
  if (!charge || usage.starts_with("Commit")) {
    return std::nullopt;
  }
  Price price{.charge = *charge, .part = part_of(without_place(text))};
  if (price.part.empty() || !read_rate(sku, price.part, price)) {
    return std::nullopt;
  }
  const auto regions = sku.find("serviceRegions");
  if (regions == sku.end() || !regions->is_array()) {
    return std::nullopt;
  }
  for (const auto& region : *regions) {
    if (region.is_string()) {
      price.regions.push_back(printable(region.get<std::string>()));
    }
  }
  return price;
}

std::optional<std::vector<Price>> read_catalogue(std::string_view text) {
  std::vector<Price> prices;
  bool has_skus = false;
  // A catalogue has tens of megabytes: each SKU is dropped when it was read.
  const JsonFilter take = [&](int /*depth*/, json::parse_event_t event, json& value) {
    if (event != json::parse_event_t::object_end || !value.contains("pricingInfo") ||
        !value.contains("description")) {
      return true;
    }
    has_skus = true;
    if (auto price = read_sku(value)) {
      prices.push_back(std::move(*price));
    }
    return false;
  };
  for (const auto document : documents(text)) {
    if (parse_json(document, take).is_discarded()) {
      return std::nullopt;
    }
  }
  return has_skus ? std::optional{std::move(prices)} : std::nullopt;
}

}  // namespace autopack::job
