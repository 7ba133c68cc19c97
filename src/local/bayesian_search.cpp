#include "local/bayesian_search.hpp"

#include "local/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
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

namespace {

/// Beyond this, coordinates share one length: separate ones would cost time and fit noise.
constexpr std::size_t most_lengths = 16;

/// Keeps a covariance of coinciding points solvable.
constexpr double jitter = 1e-8;

std::size_t row(std::size_t i) {
  return i * (i + 1) / 2;
}

/// Computes the factor in place, in the lower triangle.
void cholesky(std::vector<double>& matrix, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    double* const a = matrix.data() + row(i);
    for (std::size_t j = 0; j < i; ++j) {
      const double* const b = matrix.data() + row(j);
      a[j] = (a[j] - std::inner_product(a, a + j, b, 0.0)) / b[j];
    }
    a[i] = std::sqrt(std::max(a[i] - std::inner_product(a, a + i, a, 0.0), jitter));
  }
}

/// Solves L x = b, for a lower triangle L.
std::vector<double> forward(const std::vector<double>& factor, std::vector<double> b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double* const a = factor.data() + row(i);
    b[i] = (b[i] - std::inner_product(a, a + i, b.data(), 0.0)) / a[i];
  }
  return b;
}

/// Solves L' x = b.
std::vector<double> backward(const std::vector<double>& factor, std::vector<double> b) {
  for (std::size_t i = b.size(); i-- > 0;) {
    const double* const a = factor.data() + row(i);
    b[i] /= a[i];
    for (std::size_t j = 0; j < i; ++j) {
      b[j] -= a[j] * b[i];
    }
  }
  return b;
}

}  // namespace

GaussianProcess::GaussianProcess(std::vector<Point> points, std::vector<double> values)
    : points_{std::move(points)}, values_{std::move(values)} {
  choose_shape();
}

double GaussianProcess::kernel(const Point& a, const Point& b) const {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double distance = (a[i] - b[i]) / shape_.lengths[i];
    sum += distance * distance;
  }
  const double r = std::sqrt(5 * sum);
  return (1 + r + r * r / 3) * std::exp(-r);
}

void GaussianProcess::choose_shape() {
  constexpr std::array lengths{0.1, 0.2, 0.4, 0.8, 1.6};
  constexpr std::array noises{1e-6, 1e-3, 1e-1};
  constexpr std::array factors{0.4, 2.5};
  constexpr int rounds = 2;
  const auto coordinates = points_.front().size();
  likelihood_ = -std::numeric_limits<double>::infinity();
  for (const double length : lengths) {
    for (const double noise : noises) {
      try_shape({.lengths = std::vector<double>(coordinates, length), .noise = noise});
    }
  }
  for (int i = 0; i < rounds && coordinates <= most_lengths; ++i) {
    for (std::size_t coordinate = 0; coordinate < coordinates; ++coordinate) {
      for (const double factor : factors) {
        auto shape = shape_;
        shape.lengths[coordinate] *= factor;
        try_shape(shape);
      }
    }
  }
  fit();
}

void GaussianProcess::try_shape(const Shape& shape) {
  auto before = std::exchange(shape_, shape);
  const double likelihood = fit();
  if (likelihood > likelihood_) {
    likelihood_ = likelihood;
  } else {
    shape_ = std::move(before);
  }
}

/// Returns the log likelihood of the values, up to a constant.
double GaussianProcess::fit() {
  const auto count = points_.size();
  factor_.resize(row(count));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      factor_[row(i) + j] = kernel(points_[i], points_[j]);
    }
    factor_[row(i) + i] += shape_.noise + jitter;
  }
  cholesky(factor_, count);
  const auto solved = forward(factor_, values_);
  const auto size = static_cast<double>(count);
  variance_ = std::max(std::inner_product(solved.begin(), solved.end(), solved.begin(), 0.0) / size,
                       jitter);
  weights_ = backward(factor_, solved);
  double likelihood = -size / 2 * std::log(variance_);
  for (std::size_t i = 0; i < count; ++i) {
    likelihood -= std::log(factor_[row(i) + i]);
  }
  // Few points say little about the lengths: the default is half the range.
  for (const double length : shape_.lengths) {
    const double away = std::log(length / 0.5);
    likelihood -= away * away / 4;
  }
  return likelihood;
}

GaussianProcess::Prediction GaussianProcess::at(const Point& point) const {
  std::vector<double> near(points_.size());
  std::ranges::transform(points_, near.begin(),
                         [&](const Point& other) { return kernel(point, other); });
  const double mean = std::inner_product(near.begin(), near.end(), weights_.begin(), 0.0);
  const auto solved = forward(factor_, std::move(near));
  const double known = std::inner_product(solved.begin(), solved.end(), solved.begin(), 0.0);
  return {.mean = mean, .deviation = std::sqrt(variance_ * std::max(1 - known, 0.0))};
}

}  // namespace autopack::local
