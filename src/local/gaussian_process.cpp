#include "local/gaussian_process.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace autopack::local {

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
