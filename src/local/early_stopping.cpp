#include "local/early_stopping.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>

namespace autopack::local {

namespace {

using nlohmann::json;

/// The API specifies no number; two are too few for a median.
constexpr std::size_t least_ended = 3;

/// Returns a number that proto3 writes as number or text; nothing if it is absent.
std::optional<double> number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !(found->is_number() || found->is_string())) {
    return std::nullopt;
  }
  return found->is_number() ? found->get<double>()
                            : std::strtod(found->get<std::string>().c_str(), nullptr);
}

StoppingRule rule_of(StoppingRule::Kind kind, const job::Bag& spec) {
  const auto& fields = spec.fields();
  const auto by_time = fields.find("useElapsedDuration");
  StoppingRule rule{
      .kind = kind,
      .by_time = by_time != fields.end() && by_time->is_boolean() && by_time->get<bool>(),
      .least_steps = number_at(fields, "minStepCount"),
      .most_steps = number_at(fields, "maxStepCount")};
  if (const auto least = number_at(fields, "minMeasurementCount"); least && *least > 0) {
    constexpr double most = 1e6;
    rule.least_measurements = static_cast<std::size_t>(std::min(*least, most));
  }
  return rule;
}

double best_of(const Curve& curve) {
  double best = std::numeric_limits<double>::max();
  for (const auto& point : curve) {
    best = std::min(best, point.loss);
  }
  return best;
}

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

/// Returns the points up to `at`.
Curve until(const Curve& curve, double at) {
  Curve part;
  std::ranges::copy_if(curve, std::back_inserter(part),
                       [&](const CurvePoint& point) { return point.at <= at; });
  return part;
}

/// Returns true if the trial's best value is worse than the median of the others' running averages.
bool is_below_median(const Curve& running, const std::vector<Curve>& ended) {
  std::vector<double> averages;
  for (const auto& curve : ended) {
    const auto part = until(curve, running.back().at);
    if (!part.empty()) {
      std::vector<double> losses;
      std::ranges::transform(part, std::back_inserter(losses),
                             [](const CurvePoint& point) { return point.loss; });
      averages.push_back(mean(losses));
    }
  }
  return averages.size() >= least_ended && best_of(running) > median(averages);
}

/// Predicts that the trial will gain about as much as the others did from here on. Returns true if
/// its chance to beat the best is below 1 in 20.
bool is_unlikely(const Curve& running, const std::vector<Curve>& ended) {
  constexpr double least_chance = 0.05;
  std::vector<double> gains;
  double best = std::numeric_limits<double>::max();
  for (const auto& curve : ended) {
    const auto part = until(curve, running.back().at);
    if (!curve.empty()) {
      best = std::min(best, curve.back().loss);
    }
    if (!part.empty() && part.size() < curve.size()) {
      gains.push_back(part.back().loss - curve.back().loss);
    }
  }
  if (gains.size() < least_ended) {
    return false;
  }
  const double usual = mean(gains);
  double squares = 0;
  for (const double gain : gains) {
    squares += (gain - usual) * (gain - usual);
  }
  const auto count = static_cast<double>(gains.size());
  const double deviation = std::sqrt(squares / (count - 1) * (1 + 1 / count));
  const double missing = running.back().loss - usual - best;
  if (!(deviation > 0)) {
    return missing > 0;
  }
  return std::erfc(missing / deviation / std::numbers::sqrt2) / 2 < least_chance;
}

/// Extrapolates a line through the latter half, which overestimates the gain of a flattening curve.
/// Returns true if it ends above the best.
bool ends_above(const StoppingRule& rule, const Curve& running, const std::vector<Curve>& ended) {
  double most = rule.most_steps.value_or(0);
  double best = std::numeric_limits<double>::max();
  for (const auto& curve : ended) {
    if (!curve.empty()) {
      best = std::min(best, curve.back().loss);
      most = rule.most_steps ? most : std::max(most, curve.back().at);
    }
  }
  const auto& last = running.back();
  if (ended.size() <= rule.least_measurements || running.size() < rule.least_measurements ||
      last.at <= rule.least_steps.value_or(most / 10)) {
    return false;
  }
  const auto& middle = running[(running.size() - 1) / 2];
  const double slope = last.at > middle.at ? (last.loss - middle.loss) / (last.at - middle.at) : 0;
  return slope != 0 && last.loss + slope * std::max(most - last.at, 0.0) > best;
}

}  // namespace

std::optional<StoppingRule> stopping_rule(const job::Study& study) {
  using Kind = StoppingRule::Kind;
  if (study.median_stopping) {
    return rule_of(Kind::median, *study.median_stopping);
  }
  if (study.decay_curve_stopping) {
    return rule_of(Kind::decay_curve, *study.decay_curve_stopping);
  }
  if (study.convex_stopping) {
    return rule_of(Kind::convex, *study.convex_stopping);
  }
  return std::nullopt;
}

bool is_hopeless(const StoppingRule& rule, const Curve& running, const std::vector<Curve>& ended) {
  if (running.empty()) {
    return false;
  }
  switch (rule.kind) {
    case StoppingRule::Kind::median: return is_below_median(running, ended);
    case StoppingRule::Kind::decay_curve: return is_unlikely(running, ended);
    case StoppingRule::Kind::convex: return ends_above(rule, running, ended);
  }
  return false;
}

}  // namespace autopack::local
