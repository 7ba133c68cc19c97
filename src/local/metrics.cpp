#include "local/metrics.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>

namespace autopack::local {

namespace {

using nlohmann::json;

/// Returns a number, or one written as text; nothing if it is neither, or not finite.
std::optional<double> number_of(const json& value) {
  double number = 0;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    char* end = nullptr;
    number = std::strtod(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size()) {
      return std::nullopt;
    }
  } else {
    return std::nullopt;
  }
  return std::isfinite(number) ? std::optional{number} : std::nullopt;
}

std::optional<double> number_at(const json& report, const std::string& key) {
  const auto found = report.find(key);
  return found == report.end() ? std::nullopt : number_of(*found);
}

}  // namespace

std::vector<Measurement> read_metrics(std::string_view text,
                                      const std::vector<std::string>& ids,
                                      double began) {
  constexpr double largest_step = 9e15;
  std::vector<Measurement> all;
  for (const auto& line : split(text, '\n')) {
    const auto report = parse_json(line);
    if (!report.is_object()) {
      continue;
    }
    Measurement measurement;
    const auto step = number_at(report, "global_step");
    if (step && std::abs(*step) < largest_step) {
      measurement.step = static_cast<std::int64_t>(*step);
    }
    measurement.elapsed = std::max(number_at(report, "timestamp").value_or(began) - began, 0.0);
    for (const auto& id : ids) {
      if (const auto value = number_at(report, id)) {
        measurement.metrics[id] = *value;
      }
    }
    if (!measurement.metrics.empty()) {
      all.push_back(std::move(measurement));
    }
  }
  return all;
}

void add_later(std::vector<Measurement>& known, const std::vector<Measurement>& read) {
  constexpr std::size_t most = 200;
  for (const auto& one : read) {
    const auto is_later = [&] {
      const auto& last = known.back();
      return std::tie(last.elapsed, last.step) < std::tie(one.elapsed, one.step);
    };
    if (known.empty() || is_later()) {
      known.push_back(one);
    }
    if (known.size() > most) {
      for (std::size_t i = 1; i < most / 2; ++i) {
        known[i] = std::move(known[2 * i]);
      }
      known.erase(known.begin() + most / 2, known.end() - 1);
    }
  }
}

std::optional<double> Goals::loss_of(const Measurement& measurement) const {
  const auto found =
      ids.empty() ? measurement.metrics.end() : measurement.metrics.find(ids.front());
  if (found == measurement.metrics.end()) {
    return std::nullopt;
  }
  return maximizes.at(ids.front()) ? -found->second : found->second;
}

Goals goals_of(const job::Study& study) {
  Goals goals{.takes_best = study.measurement_selection.value_or("") == "BEST_MEASUREMENT"};
  for (const auto& metric : study.metrics.value_or(std::vector<job::Metric>{})) {
    goals.ids.push_back(metric.id.value_or(""));
    goals.maximizes[goals.ids.back()] = metric.goal.value_or("") == "MAXIMIZE";
  }
  return goals;
}

std::optional<Measurement> final_measurement(const std::vector<Measurement>& all,
                                             const Goals& goals) {
  Measurement last;
  for (const auto& measurement : all) {
    last.step = measurement.step;
    for (const auto& [id, value] : measurement.metrics) {
      const auto before = last.metrics.find(id);
      const auto goal = goals.maximizes.find(id);
      const bool is_worse = before != last.metrics.end() && goal != goals.maximizes.end() &&
                            (goal->second ? value < before->second : value > before->second);
      if (!goals.takes_best || !is_worse) {
        last.metrics[id] = value;
      }
    }
  }
  const bool has_all = std::ranges::all_of(
      goals.ids, [&](const std::string& id) { return last.metrics.contains(id); });
  return has_all ? std::optional{last} : std::nullopt;
}

}  // namespace autopack::local
