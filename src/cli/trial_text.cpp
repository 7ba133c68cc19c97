#include "cli/trial_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace autopack::cli {

namespace {

using nlohmann::json;

const json& part_of(const json& object, const char* key) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

const json& metrics_of(const json& trial) {
  return part_of(part_of(trial, "finalMeasurement"), "metrics");
}

/// Returns the first metric's value; nothing if the trial has none.
std::optional<double> value_of(const json& trial) {
  const auto& metrics = metrics_of(trial);
  if (!metrics.is_array() || metrics.empty()) {
    return std::nullopt;
  }
  const auto& value = part_of(metrics.front(), "value");
  return value.is_number() ? std::optional{value.get<double>()} : std::nullopt;
}

bool maximizes(const json& job) {
  const auto& metrics = part_of(part_of(job, "studySpec"), "metrics");
  return metrics.is_array() && !metrics.empty() && text_at(metrics.front(), "goal") == "MAXIMIZE";
}

std::string text_of(const json& value) {
  if (value.is_number()) {
    return fmt::format("{:.6g}", value.get<double>());
  }
  return value.is_string() ? printable(value.get<std::string>()) : print_json(value);
}

std::string pairs(const json& list, const char* name) {
  std::vector<std::string> texts;
  for (const auto& one : list) {
    texts.push_back(printable(text_at(one, name)) + "=" + text_of(part_of(one, "value")));
  }
  return join(texts, " ");
}

/// `STOPPING` is the API's final state of a trial that a rule ended.
std::string state_of(const json& trial) {
  const auto state = to_lower(printable(text_at(trial, "state")));
  return state == "stopping" && !text_at(trial, "endTime").empty() ? "stopped" : state;
}

}  // namespace

std::string trial_table(const json& job) {
  const auto& found = part_of(job, "trials");
  if (!found.is_array() || found.empty()) {
    return {};
  }
  std::vector<json> trials(found.begin(), found.end());
  const bool more_is_better = maximizes(job);
  std::ranges::stable_sort(trials, [&](const json& a, const json& b) {
    const auto first = value_of(a);
    const auto second = value_of(b);
    if (!first || !second) {
      return first.has_value() && !second.has_value();
    }
    return more_is_better ? *first > *second : *first < *second;
  });
  std::vector<std::vector<std::string>> rows{{"TRIAL", "STATE", "METRICS", "PARAMETERS"}};
  for (const auto& trial : trials) {
    rows.push_back({printable(text_at(trial, "id")), state_of(trial),
                    pairs(metrics_of(trial), "metricId"),
                    pairs(part_of(trial, "parameters"), "parameterId")});
  }
  return text_table(rows);
}

}  // namespace autopack::cli
