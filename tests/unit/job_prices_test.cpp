#include "base/json.hpp"
#include "job/machine_size.hpp"
#include "job/prices.hpp"
#include "job/tables.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::job_prices_test {

using job::Charge;
using nlohmann::json;

namespace {

json sku(const std::string& description,
         std::int64_t nanos,
         const std::string& unit = "h",
         const std::string& usage = "OnDemand",
         const std::vector<std::string>& regions = {"us-central1"}) {
  const json price{{"currencyCode", "USD"},
                   {"units", std::to_string(nanos / 1'000'000'000)},
                   {"nanos", nanos % 1'000'000'000}};
  const json expression{{"usageUnit", unit},
                        {"tieredRates", {{{"startUsageAmount", 0}, {"unitPrice", price}}}}};
  return {{"skuId", "0000-0000-0000"},
          {"description", description},
          {"category", {{"resourceFamily", "Compute"}, {"usageType", usage}}},
          {"serviceRegions", regions},
          {"pricingInfo", {{{"pricingExpression", expression}}}}};
}

std::string page(const json& skus) {
  return json{{"skus", skus}, {"nextPageToken", "more"}}.dump();
}

job::PriceList list_of(const json& skus) {
  const auto prices = job::read_catalogue(page(skus));
  REQUIRE(prices);
  return {.date = "2026-11-20", .prices = *prices};
}

job::Job job_of(const std::string& machine,
                const std::optional<std::string>& accelerator = {},
                std::int64_t count = 1) {
  job::Pool pool{.machine = job::Machine{.type = machine}};
  if (accelerator) {
    pool.machine->accelerator = accelerator;
    pool.machine->accelerators = count;
  }
  job::Job job;
  job.spec.pools.push_back(std::move(pool));
  return job;
}

std::string cost(const job::Job& job,
                 const job::PriceList& list,
                 const std::string& region = "us-central1") {
  return job::to_string(job::hourly_cost(job, region, list), region, list);
}

const json vertex_n1 = json::array(
    {sku("Vertex AI: Training/Pipelines on N1 Predefined Instance Core running in Americas",
         36'353'000),
     sku("Vertex AI: Training/Pipelines on N1 Predefined Instance Ram running in Americas",
         4'872'000,
         "GiBy.h"),
     sku("Vertex AI: Training/Pipelines on Nvidia Tesla T4 GPU running in Americas", 402'500'000)});

const json compute_n1 =
    json::array({sku("N1 Predefined Instance Core running in Americas", 31'611'000),
                 sku("N1 Predefined Instance Ram running in Americas", 4'237'000, "GiBy.h"),
                 sku("Nvidia Tesla T4 GPU running in Americas", 350'000'000),
                 sku("Spot Preemptible N1 Predefined Instance Core running in Americas",
                     6'655'000,
                     "h",
                     "Preemptible"),
                 sku("Spot Preemptible N1 Predefined Instance Ram running in Americas",
                     892'000,
                     "GiBy.h",
                     "Preemptible"),
                 sku("Nvidia Tesla T4 GPU attached to Spot Preemptible VMs running in Americas",
                     140'000'000,
                     "h",
                     "Preemptible"),
                 sku("Commitment v1: N1 Cpu in Americas for 1 Year", 1, "h", "Commit1Yr"),
                 sku("Custom Instance Core running in Americas", 33'174'000),
                 sku("N1 Predefined Instance Core running in Finland",
                     34'806'000,
                     "h",
                     "OnDemand",
                     {"europe-north1"})});

const json fees = json::array(
    {sku("Vertex AI: Training/Pipelines Management fee on N1 Instance Core in Iowa", 1'000'000),
     sku("Vertex AI: Training/Pipelines Management fee on N1 Instance RAM in Iowa",
         1'000'000,
         "GBy.h"),
     sku("Vertex AI: Training/Pipelines management fee on NVIDIA Tesla T4 in Iowa", 10'000'000)});

json together(json first, const json& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE("an SKU is known by its description") {
  const auto part = [](const std::string& description, const std::string& unit = "h",
                       const std::string& usage = "OnDemand") -> std::string {
    const auto price = job::read_sku(sku(description, 5, unit, usage));
    return price ? std::to_string(static_cast<int>(price->charge)) + " " + price->part : "";
  };
  CHECK(part("Vertex AI: Training/Pipelines on NVIDIA H100 80GB in Iowa") ==
        "0 gpu NVIDIA_H100_80GB");
  CHECK(part("Vertex AI: Training/Pipelines on A3 Instance RAM in Iowa", "GBy.h") == "0 ram a3");
  CHECK(part("Vertex AI: Training/Pipelines management fee on A3 Instance Core in Iowa") ==
        "1 core a3");
  CHECK(part("A2 Instance Core running in Americas") == "2 core a2");
  CHECK(part("Compute optimized Core running in Americas") == "2 core c2");
  CHECK(part("Nvidia Tesla A100 80GB GPU running in Americas") == "2 gpu NVIDIA_A100_80GB");
  CHECK(part("Preemptible N1 Predefined Instance Core running in Americas", "h", "Preemptible") ==
        "3 core n1");
  CHECK(part("DWS Defined Duration A3 Core running in Americas") == "4 core a3");
  CHECK(part("Nvidia H100 80GB GPU attached to DWS Defined Duration VMs running in Americas") ==
        "4 gpu NVIDIA_H100_80GB");
  for (const std::string other :
       {"N1 Predefined Instance Ram running in Americas",
        "Custom Instance Core running in Americas", "N2D AMD Instance Core running in Americas",
        "Vertex AI: Online/Batch Prediction N1 Core",
        "N1 Sole Tenancy Instance Core running in Americas", "Core", "", "in Iowa",
        "Vertex AI: Training/Pipelines on SSD backed PD Capacity"}) {
    CAPTURE(other);
    CHECK(part(other).empty());  // also for a price of memory that is not for a GB
  }
  CHECK(part("N1 Predefined Instance Core running in Americas", "h", "Commit1Yr").empty());
  CHECK(part("N1 Predefined Instance Core running in Americas", "GiBy.mo").empty());
}

TEST_CASE("only one plain rate is a price") {
  auto one = sku("N1 Predefined Instance Core running in Americas", 31'611'000);
  auto& expression = one["pricingInfo"][0]["pricingExpression"];
  REQUIRE(job::read_sku(one));
  CHECK(job::read_sku(one)->nanos == 31'611'000);
  for (const json& wrong : {json(7), json("x"), json::array(), json::object()}) {
    auto other = one;
    other["pricingInfo"][0]["pricingExpression"] = wrong;
    CHECK_FALSE(job::read_sku(other));
    other = one;
    other["pricingInfo"] = wrong;
    CHECK_FALSE(job::read_sku(other));
    other = one;
    other["pricingInfo"][0]["pricingExpression"]["tieredRates"] = wrong;
    CHECK_FALSE(job::read_sku(other));
    other = one;
    other["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"] = wrong;
    CHECK_FALSE(job::read_sku(other));
    other = one;
    other["category"] = wrong;
    CHECK_FALSE(job::read_sku(other));
  }
  auto& price = expression["tieredRates"][0]["unitPrice"];
  for (const json& wrong :
       {json("1.5"), json("-1"), json(""), json(true), json("99999999999999999999")}) {
    auto other = one;
    other["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["units"] = wrong;
    CHECK_FALSE(job::read_sku(other));
  }
  price["units"] = 2;
  price.erase("nanos");
  CHECK(job::read_sku(one)->nanos == 2'000'000'000);
  expression["tieredRates"].push_back(expression["tieredRates"][0]);
  CHECK_FALSE(job::read_sku(one));
}

TEST_CASE("a catalogue is a page, a list of pages, or one page after the other") {
  const auto one = page(vertex_n1);
  CHECK(job::read_catalogue(one)->size() == 3);
  CHECK(job::read_catalogue("[" + one + ", " + one + "]")->size() == 6);
  CHECK(job::read_catalogue(one + "\n" + one + "\n")->size() == 6);
  CHECK(job::read_catalogue(page(compute_n1))->size() == 7);
  CHECK(job::read_catalogue(page({sku("Storage PD Capacity in Americas", 1)}))->empty());
  for (const std::string wrong :
       {"", "{}", "[]", "null", "{\"skus\": []}", "<html>", "{\"skus\": ["}) {
    CAPTURE(wrong);
    CHECK_FALSE(job::read_catalogue(wrong));
  }
  CHECK_FALSE(job::read_catalogue(one + "{\"skus\": ["));
}

TEST_CASE("an hour costs the sum of all parts, exactly") {
  const auto list = list_of(vertex_n1);
  // 8 x 0.036353 + 30 x 0.004872 + 0.4025 = 0.839484
  CHECK(cost(job_of("n1-standard-8", "NVIDIA_TESLA_T4"), list) ==
        "about $0.84 an hour (n1-standard-8, 1 x NVIDIA_TESLA_T4, us-central1; prices of "
        "2026-11-20)");
  auto job = job_of("n1-standard-4");
  job.spec.pools.push_back(job.spec.pools.front());
  job.spec.pools.push_back({});
  job.spec.pools[1].replicas = 3;
  // 4 machines of 4 x 0.036353 + 15 x 0.004872 = 0.218492
  CHECK(cost(job, list) ==
        "about $0.87 an hour (n1-standard-4; 3 x n1-standard-4, us-central1; prices of "
        "2026-11-20)");
  job.kind = job::JobKind::tuning_job;
  job.parallel_trials = 5;
  CHECK(job::hourly_cost(job, "us-central1", list).amount == "4.37");
  // 0.005 is rounded up, and what is a billionth less is not.
  const auto half = [](std::int64_t nanos) {
    return job::hourly_cost(job_of("n1-standard-4"), "us-central1",
                            list_of({sku("N1 Predefined Instance Core running in X", nanos),
                                     sku("N1 Predefined Instance Ram running in X", 0, "GiBy.h")}))
        .amount;
  };
  CHECK(half(1'250'000) == "0.01");
  CHECK(half(1'249'999) == "0.00");
}

TEST_CASE("Compute Engine's prices count with Vertex AI's fee, which is named if it is missing") {
  const auto job = job_of("n1-standard-8", "NVIDIA_TESLA_T4");
  const auto compute = list_of(compute_n1);
  // 8 x 0.031611 + 30 x 0.004237 + 0.35 = 0.729998
  CHECK(cost(job, compute) ==
        "about $0.73 an hour and Vertex AI's fee, which the prices lack (n1-standard-8, 1 x "
        "NVIDIA_TESLA_T4, us-central1; prices of 2026-11-20)");
  // with 8 x 0.001 + 30 x 0.001 + 0.01 = 0.048
  CHECK(cost(job, list_of(together(compute_n1, fees))).starts_with("about $0.78 an hour ("));
  // Vertex AI's own price is the whole one.
  const auto all = list_of(together(together(compute_n1, fees), vertex_n1));
  CHECK(cost(job, all).starts_with("about $0.84 an hour ("));
  auto spot = job;
  spot.spec.scheduling = job::Scheduling{.strategy = "SPOT"};
  // 8 x 0.006655 + 30 x 0.000892 + 0.14 + 0.048 = 0.268
  CHECK(cost(spot, all).starts_with("about $0.27 an hour ("));
  spot.spec.scheduling->strategy = "FLEX_START";
  CHECK(cost(spot, all).starts_with("unknown: no price of CPUs of n1, memory of n1, GPU"));
}

TEST_CASE("without a price of every part there is no sum, and what is unknown is named") {
  const auto list = list_of(vertex_n1);
  const auto unknown = [&](const job::Job& job, const std::string& region = "us-central1") {
    const auto cost = job::hourly_cost(job, region, list);
    CHECK_FALSE(cost.amount);
    return cost.unknown;
  };
  using Strings = std::vector<std::string>;
  CHECK(unknown(job_of("n1-standard-8", "NVIDIA_TESLA_V100")) == Strings{"GPU NVIDIA_TESLA_V100"});
  CHECK(unknown(job_of("n2-standard-8")) == Strings{"CPUs of n2", "memory of n2"});
  CHECK(unknown(job_of("n1-standard-8"), "us-east1") == Strings{"CPUs of n1", "memory of n1"});
  CHECK(unknown(job_of("cloud-tpu", "TPU_V2", 8)) == Strings{"machine type cloud-tpu"});
  CHECK(unknown(job_of("c9-huge-7")) == Strings{"machine type c9-huge-7"});
  CHECK(cost(job_of("c9-huge-7"), list) ==
        "unknown: no price of machine type c9-huge-7 (c9-huge-7, us-central1; prices of "
        "2026-11-20)");
  auto differing = vertex_n1;
  differing.push_back(differing[0]);
  differing.back()["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["nanos"] =
      1;
  CHECK_FALSE(job::hourly_cost(job_of("n1-standard-8"), "us-central1", list_of(differing)).amount);
  auto currencies = vertex_n1;
  currencies[0]["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]
            ["currencyCode"] = "EUR";
  CHECK_FALSE(job::hourly_cost(job_of("n1-standard-8"), "us-central1", list_of(currencies)).amount);
  auto many = job_of("n1-standard-96");
  many.spec.pools[0].replicas = std::int64_t{1} << 62;
  CHECK_FALSE(job::hourly_cost(many, "us-central1", list).amount);
}

TEST_CASE("prices survive being stored") {
  const auto list = list_of(together(compute_n1, fees));
  const auto again = job::read_prices(parse_json(write_json(job::write_prices(list))));
  REQUIRE(again);
  CHECK(job::write_prices(*again) == job::write_prices(list));
  CHECK_FALSE(job::read_prices(json{{"version", 2}}));
  CHECK_FALSE(job::read_prices(json::array()));
  CHECK_FALSE(job::read_prices(json{{"version", 1}, {"date", "x"}, {"prices", {{{"part", 7}}}}}));
}

TEST_CASE("the size of every machine for training is known, except of those with a TPU") {
  for (const auto& machine : job::tables::machines()) {
    CAPTURE(machine.name);
    const bool is_whole = machine.tpu || machine.needs_topology || machine.arm64;
    CHECK(job::find_machine_size(machine.name).has_value() == !is_whole);
  }
  CHECK(job::find_machine_size("n1-highcpu-16")->memory == 14'400);
  CHECK(job::find_machine_size("a3-highgpu-8g")->cpus == 208);
}

}  // namespace autopack::job_prices_test
