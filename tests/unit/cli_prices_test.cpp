#include "base/json.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace autopack::testing::cli_prices_test {

namespace {

constexpr auto* catalogue = R"({"skus": [
  {"description": "Vertex AI: Training/Pipelines on N1 Predefined Instance Core running in Americas",
   "category": {"usageType": "OnDemand"}, "serviceRegions": ["us-central1", "us-east1"],
   "pricingInfo": [{"pricingExpression": {"usageUnit": "h", "tieredRates": [
     {"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 36353000}}]}}]},
  {"description": "Vertex AI: Training/Pipelines on N1 Predefined Instance Ram running in Americas",
   "category": {"usageType": "OnDemand"}, "serviceRegions": ["us-central1", "us-east1"],
   "pricingInfo": [{"pricingExpression": {"usageUnit": "GiBy.h", "tieredRates": [
     {"unitPrice": {"currencyCode": "USD", "units": "0", "nanos": 4872000}}]}}]}
]})";

struct Priced : CliRun {
  Priced() {
    write("train.py", "print(1)\n");
    set("CLOUDSDK_CORE_PROJECT", "p");
    set("CLOUDSDK_AI_REGION", "us-central1");
  }

  bool has(const std::string& text) const { return errors.find(text) != std::string::npos; }

  int dry_run(std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"submit", "--dry-run", "--container-image-uri=gcr.io/p/i:v1"});
    return run(flags);
  }
};

}  // namespace

TEST_CASE("without prices, no cost is reported") {
  Priced cli;
  CHECK(cli.dry_run({}) == 0);
  CHECK_FALSE(cli.has("Costs"));
  CHECK_FALSE(parse_json(cli.out).contains("cost"));
  CHECK(cli.run({"prices"}) == 2);
  CHECK(cli.has("no prices are known"));
}

TEST_CASE("a dry run and explain print what an hour costs") {
  Priced cli;
  cli.write("vertex.json", catalogue);
  namespace fs = std::filesystem;
  const auto day = std::chrono::sys_seconds{std::chrono::days{20777}};  // 2026-11-20
  fs::last_write_time("vertex.json", std::chrono::file_clock::from_sys(day));
  REQUIRE(cli.run({"prices", "--from=vertex.json"}) == 0);
  CHECK(cli.has("      Read  2 prices in 2 regions, of 2026-11-20\n"));
  CHECK(cli.run({"prices"}) == 0);
  CHECK(cli.has("     Found  2 prices in 2 regions, of 2026-11-20\n"));
  CHECK(cli.dry_run({}) == 0);
  CHECK(
      cli.has("     Costs  about $0.22 an hour (n1-standard-4, us-central1; prices of "
              "2026-11-20)\n"));
  CHECK(parse_json(cli.out)["cost"] == nlohmann::json{{"perHour", "0.22"},
                                                      {"currency", "USD"},
                                                      {"unknown", nlohmann::json::array()},
                                                      {"pricesOf", "2026-11-20"}});
  CHECK(cli.dry_run({"--accelerator-type=NVIDIA_TESLA_T4"}) == 0);
  CHECK(
      cli.has("     Costs  unknown: no price of GPU NVIDIA_TESLA_T4 (n1-standard-8, 1 x "
              "NVIDIA_TESLA_T4, us-central1; prices of 2026-11-20)\n"));
  CHECK(cli.dry_run({"--region=us-central1,us-east1,us-west1"}) == 0);
  CHECK(cli.has("an hour (n1-standard-4, us-east1; prices"));
  CHECK(cli.has("unknown: no price of CPUs of n1, memory of n1 (n1-standard-4, us-west1; prices"));
  CHECK(parse_json(cli.out)["attempts"][1]["cost"]["perHour"] == "0.22");
  CHECK(cli.run({"explain", "--script=train.py"}) == 0);
  CHECK_FALSE(cli.has("Costs"));
  cli.write("autopack.yaml", "machine-type: n1-standard-8\nscript: train.py\n");
  CHECK(cli.run({"explain"}) == 0);
  CHECK(
      cli.has("     Costs  about $0.44 an hour (n1-standard-8, us-central1; prices of "
              "2026-11-20)\n"));
  CHECK(cli.run({"explain", "--format=json"}) == 0);
  CHECK(parse_json(cli.out)["cost"]["perHour"] == "0.44");
}

TEST_CASE("a file that is not a catalogue changes nothing") {
  Priced cli;
  cli.write("vertex.json", catalogue);
  REQUIRE(cli.run({"prices", "--from=vertex.json"}) == 0);
  cli.write("page.html", "<html>");
  cli.write("other.json", R"({"skus": [{"description": "x", "pricingInfo": []}]})");
  CHECK(cli.run({"prices", "--from=page.html"}) == 2);
  CHECK(cli.has("`page.html` is not a page of the Cloud Billing Catalog API"));
  CHECK(cli.run({"prices", "--from=other.json"}) == 2);
  CHECK(cli.has("the catalogue has no price of a machine for training"));
  CHECK(cli.run({"prices", "--from=nowhere.json"}) == 2);
  CHECK(cli.has("`nowhere.json` of `--from` cannot be read"));
  cli.write("large.json", "");
  std::filesystem::resize_file("large.json", 100'000'001);
  CHECK(cli.run({"prices", "--from=large.json"}) == 2);
  CHECK(cli.has("; a catalogue has at most 100"));
  CHECK(cli.run({"prices", "--from=vertex.json", "--from=vertex.json", "--format=json"}) == 0);
  CHECK(parse_json(cli.out)["prices"].size() == 4);
}

}  // namespace autopack::testing::cli_prices_test
