#include "base/error.hpp"
#include "base/json.hpp"
#include "job/config.hpp"
#include "job/flag_values.hpp"
#include "job/flags_file.hpp"
#include "job/pool_flags.hpp"
#include "job/prices.hpp"
#include "job/settings_file.hpp"
#include "target.hpp"

namespace autopack::fuzz {

namespace {

void settings(std::string_view bytes) {
  for (const auto& setting : job::spread_packaging(job::read_settings_file(bytes, "a.yaml"))) {
    try {
      job::flag_values(setting);
    } catch (const Error&) {
      continue;
    }
  }
}

void save(std::string_view bytes) {
  const std::string text{bytes};
  const auto saved = job::save_settings(text, "a.yaml", {{"region", "us-east1"}});
  bool is_there = false;
  for (const auto& setting : job::read_settings_file(saved, "a.yaml")) {
    is_there = is_there || setting.key == "region";
  }
  if (!is_there) {
    fail("what was saved cannot be read");
  }
}

void config(std::string_view bytes) {
  Problems problems;
  job::parse_config(bytes, "job.yaml", problems);
}

void flags_file(std::string_view bytes) {
  job::parse_flags_file(bytes, "flags.yaml");
}

void flag_values(std::string_view bytes) {
  Problems problems;
  const auto elements = job::split_list(bytes, "--args", problems);
  if (problems.empty() && !elements.empty() &&
      job::split_list(job::join_list(elements), "--args", problems) != elements) {
    fail("a list does not come back");
  }
  job::split_pairs(bytes, "--labels", problems);
  job::parse_pool(std::string{bytes}, job::Origin::flag("--worker-pool-spec"), problems);
  if (const auto duration = job::api_duration(bytes)) {
    job::duration_seconds(*duration);
  }
}

void json_documents(std::string_view bytes) {
  const auto json = parse_json(bytes);
  if (!json.is_discarded()) {
    print_json(json, 2);
  }
}

void catalogue(std::string_view bytes) {
  const auto prices = job::read_catalogue(bytes);
  if (!prices) {
    return;
  }
  const job::PriceList list{.date = "2026-11-20", .prices = *prices};
  const auto again = job::read_prices(parse_json(print_json(job::write_prices(list))));
  if (!again || again->prices.size() != prices->size()) {
    fail("prices do not survive being stored");
  }
  job::Job job;
  job.spec.pools.push_back({.machine = job::Machine{.type = "n1-standard-8"}});
  if (!prices->empty() && !prices->front().regions.empty()) {
    const auto& region = prices->front().regions.front();
    job::to_string(job::hourly_cost(job, region, list), region, list);
  }
}

}  // namespace

std::vector<Target> job_targets() {
  return {{"settings", settings},     {"save_settings", save},      {"job_config", config},
          {"flags_file", flags_file}, {"flag_values", flag_values}, {"json", json_documents},
          {"catalogue", catalogue}};
}

}  // namespace autopack::fuzz
