#include "local/bayesian_search.hpp"

#include "local/gaussian_process.hpp"
#include "local/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>
#include <utility>

namespace autopack::local {

namespace {

using Outcome = KnownTrial::Outcome;
using Point = GaussianProcess::Point;

constexpr std::size_t trials_at_random = 5;
/// Time grows with the third power of the trials; 200 take a second in the slowest build.
constexpr std::size_t most_known = 200;
constexpr int candidates_at_random = 400;
constexpr int neighbours_of_each = 30;
constexpr std::size_t best_with_neighbours = 3;
/// Distances of neighbours, relative to a parameter's range.
constexpr std::array reaches{0.2, 0.06, 0.02, 0.005};

/// Appends the coordinates of a trial: a number's position along its scale, and one coordinate for
/// each category. A parameter that is not searched with these values is in the middle of its range
/// and has no category.
void add_coordinates(const job::Parameter& parameter, const TrialValues* values, Point& point) {
  const ParameterValue* value = nullptr;
  if (values != nullptr) {
    const auto found = std::ranges::find_if(
        *values, [&](const auto& one) { return one.id == parameter.id.value_or(""); });
    value = found == values->end() ? nullptr : &*found;
  }
  if (parameter.categories) {
    // This makes two categories as distant as the ends of a range.
    for (const auto& category : parameter.categories->values.value_or(std::vector<std::string>{})) {
      point.push_back(value != nullptr && value->text == category ? 1 / std::numbers::sqrt2 : 0);
    }
  } else {
    point.push_back(value == nullptr ? 0.5 : place_of(parameter, *value));
  }
  for (const auto& child : parameter.children) {
    if (child.parameter) {
      const bool is_there = value != nullptr && is_searched(child, *value);
      add_coordinates(*child.parameter, is_there ? values : nullptr, point);
    }
  }
}

Point point_of(const std::vector<job::Parameter>& parameters, const TrialValues& values) {
  Point point;
  for (const auto& parameter : parameters) {
    add_coordinates(parameter, &values, point);
  }
  return point;
}

/// Returns a trial near another one.
TrialValues neighbour(const std::vector<job::Parameter>& parameters,
                      const TrialValues& values,
                      double reach,
                      std::mt19937_64& random) {
  TrialValues moved;
  for (const auto& parameter : parameters) {
    const auto found = std::ranges::find_if(
        values, [&](const auto& one) { return one.id == parameter.id.value_or(""); });
    if (found == values.end()) {
      moved.push_back(draw_value(parameter, random));
    } else if (std::bernoulli_distribution{0.5}(random)) {
      moved.push_back(move_value(parameter, *found, reach, random));
    } else {
      moved.push_back(*found);
    }
    const auto below = neighbour(children(parameter, moved.back()), values, reach, random);
    moved.insert(moved.end(), below.begin(), below.end());
  }
  return moved;
}

double upper_median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// Sorts the best first; failed trials, which have no value, are last.
std::vector<KnownTrial> by_loss(std::vector<KnownTrial> known) {
  std::ranges::stable_sort(known, [](const KnownTrial& a, const KnownTrial& b) {
    return a.outcome != b.outcome ? a.outcome == Outcome::measured
                                  : a.outcome == Outcome::measured && a.loss < b.loss;
  });
  return known;
}

/// Selects the best for one half, and an even spread of the rest for the other.
std::vector<KnownTrial> as_many_as_fit(const std::vector<KnownTrial>& sorted) {
  if (sorted.size() <= most_known) {
    return sorted;
  }
  constexpr auto half = most_known / 2;
  std::vector<KnownTrial> kept(sorted.begin(), sorted.begin() + half);
  for (std::size_t i = 0; i < half; ++i) {
    kept.push_back(sorted[half + i * (sorted.size() - half) / half]);
  }
  return kept;
}

/// Returns the values for the process. Clips values far worse than the median. A failed trial
/// counts as the worst, a running one as the median, so that the next trials go elsewhere.
std::vector<double> values_of(const std::vector<KnownTrial>& known) {
  constexpr double far = 2;
  std::vector<double> losses;
  for (const auto& trial : known) {
    if (trial.outcome == Outcome::measured) {
      losses.push_back(trial.loss);
    }
  }
  const double best = losses.front();
  const double middle = upper_median(losses);
  const double worst =
      middle > best ? std::min(losses.back(), middle + far * (middle - best)) : losses.back();
  std::vector<double> values;
  for (const auto& trial : known) {
    const double value = trial.outcome == Outcome::measured ? std::min(trial.loss, worst)
                         : trial.outcome == Outcome::failed ? worst
                                                            : middle;
    values.push_back(value);
  }
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (auto& value : values) {
    value -= mean;
    squares += value * value;
  }
  const double deviation = std::sqrt(squares / count);
  for (auto& value : values) {
    value = deviation > 0 && std::isfinite(deviation) ? value / deviation : 0;
  }
  return values;
}

double expected_improvement(const GaussianProcess::Prediction& prediction, double best) {
  const double gain = best - prediction.mean;
  if (!(prediction.deviation > 0)) {
    return std::max(gain, 0.0);
  }
  const double z = gain / prediction.deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double probability = std::erfc(-z / std::numbers::sqrt2) / 2;
  return gain * probability + prediction.deviation * density;
}

/// Searches for the most promising trial among random ones, neighbours of the best, and their
/// neighbours.
class Candidates {
public:
  Candidates(const std::vector<job::Parameter>& parameters,
             const std::vector<KnownTrial>& known,
             std::mt19937_64& random)
      : parameters_{parameters},
        known_{known},
        random_{random},
        values_{values_of(known)},
        process_{points(), values_},
        best_loss_{*std::ranges::min_element(values_)} {}

  TrialValues best() {
    best_ = draw(parameters_, random_);
    for (int i = 0; i < candidates_at_random; ++i) {
      look_at(draw(parameters_, random_));
    }
    for (std::size_t i = 0; i < std::min(best_with_neighbours, known_.size()); ++i) {
      look_around(known_[i].values);
    }
    look_around(TrialValues{best_});
    return best_;
  }

private:
  std::vector<Point> points() const {
    std::vector<Point> all;
    for (const auto& trial : known_) {
      all.push_back(point_of(parameters_, trial.values));
    }
    return all;
  }

  void look_around(const TrialValues& middle) {
    for (const double reach : reaches) {
      for (int i = 0; i < neighbours_of_each; ++i) {
        look_at(neighbour(parameters_, middle, reach, random_));
      }
    }
  }

  void look_at(TrialValues candidate) {
    const double promise =
        expected_improvement(process_.at(point_of(parameters_, candidate)), best_loss_);
    const bool is_known = std::ranges::any_of(
        known_, [&](const KnownTrial& trial) { return trial.values == candidate; });
    if (!is_known && promise > promise_) {
      promise_ = promise;
      best_ = std::move(candidate);
    }
  }

  const std::vector<job::Parameter>& parameters_;
  const std::vector<KnownTrial>& known_;
  std::mt19937_64& random_;
  std::vector<double> values_;
  GaussianProcess process_;
  double best_loss_;
  TrialValues best_{};
  double promise_{-1};
};

}  // namespace

TrialValues promising_trial(const std::vector<job::Parameter>& parameters,
                            const std::vector<KnownTrial>& known,
                            std::mt19937_64& random) {
  const auto measured = static_cast<std::size_t>(std::ranges::count_if(
      known, [](const KnownTrial& trial) { return trial.outcome == Outcome::measured; }));
  if (known.size() < trials_at_random || measured == 0 || parameters.empty()) {
    return draw(parameters, random);
  }
  return Candidates{parameters, as_many_as_fit(by_loss(known)), random}.best();
}

}  // namespace autopack::local
