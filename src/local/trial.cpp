#include "base/json.hpp"
#include "base/text.hpp"
#include "local/study.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace autopack::local {

using nlohmann::json;

namespace {

json resource_of_measurement(const Measurement& measurement) {
  json resource{{"stepCount", std::to_string(measurement.step)}};
  if (measurement.elapsed > 0) {
    resource["elapsedDuration"] = fmt::format("{:.3f}s", measurement.elapsed);
  }
  for (const auto& [id, value] : measurement.metrics) {
    resource["metrics"].push_back({{"metricId", id}, {"value", value}});
  }
  return resource;
}

Measurement read_measurement(const json& resource) {
  Measurement measurement;
  if (!resource.is_object()) {
    return measurement;
  }
  measurement.step = std::strtoll(text_at(resource, "stepCount").c_str(), nullptr, 10);
  measurement.elapsed = std::strtod(text_at(resource, "elapsedDuration").c_str(), nullptr);
  for (const auto& metric : resource.value("metrics", json::array())) {
    const auto value = metric.is_object() ? metric.find("value") : metric.end();
    if (metric.is_object() && value != metric.end() && value->is_number()) {
      measurement.metrics[text_at(metric, "metricId")] = value->get<double>();
    }
  }
  return measurement;
}

/// Formats a whole number without `1e+16`, as long as a double is exact.
std::string text_of(double number) {
  constexpr double largest = 9e15;
  return std::trunc(number) == number && std::abs(number) < largest
             ? std::to_string(static_cast<std::int64_t>(number))
             : number_text(number);
}

std::optional<ParameterValue> read_value(const json& parameter) {
  if (!parameter.is_object() || !parameter.contains("value")) {
    return std::nullopt;
  }
  const auto& value = parameter["value"];
  if (value.is_string()) {
    return ParameterValue{.id = text_at(parameter, "parameterId"),
                          .text = value.get<std::string>(),
                          .is_number = false};
  }
  return value.is_number() ? std::optional{ParameterValue{.id = text_at(parameter, "parameterId"),
                                                          .text = text_of(value.get<double>())}}
                           : std::nullopt;
}

}  // namespace

json resource_of(const Trial& trial) {
  json values = json::array();
  for (const auto& value : trial.values) {
    values.push_back({{"parameterId", value.id}});
    values.back()["value"] =
        value.is_number ? json(std::strtod(value.text.c_str(), nullptr)) : json(value.text);
  }
  json resource{{"id", trial.id},
                {"state", trial.state},
                {"parameters", std::move(values)},
                {"startTime", trial.started}};
  if (trial.ended) {
    resource["endTime"] = *trial.ended;
  }
  for (const auto& measurement : trial.measured) {
    resource["measurements"].push_back(resource_of_measurement(measurement));
  }
  if (trial.last) {
    resource["finalMeasurement"] = resource_of_measurement(*trial.last);
  }
  if (trial.reason) {
    resource["infeasibleReason"] = *trial.reason;
  }
  return resource;
}

std::optional<Trial> read_trial(const json& resource) {
  if (!resource.is_object()) {
    return std::nullopt;
  }
  Trial trial{.id = text_at(resource, "id"),
              .state = text_at(resource, "state"),
              .reason = non_empty(text_at(resource, "infeasibleReason")),
              .started = text_at(resource, "startTime"),
              .ended = non_empty(text_at(resource, "endTime"))};
  for (const auto& parameter : resource.value("parameters", json::array())) {
    auto value = read_value(parameter);
    if (!value) {
      return std::nullopt;
    }
    trial.values.push_back(std::move(*value));
  }
  for (const auto& measurement : resource.value("measurements", json::array())) {
    trial.measured.push_back(read_measurement(measurement));
  }
  if (const auto last = resource.find("finalMeasurement"); last != resource.end()) {
    trial.last = read_measurement(*last);
  }
  return trial;
}

}  // namespace autopack::local
