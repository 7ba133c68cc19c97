#pragma once

#include "local/parameter_values.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace autopack::local {

/// A trial that the search knows about.
struct KnownTrial {
  enum class Outcome { running, failed, measured };

  TrialValues values{};
  Outcome outcome{Outcome::running};
  double loss{0};  ///< the measured value; less is better
};

/// Returns the trial with the highest expected improvement over the best known one (Mockus), by a
/// Gaussian process through all known trials. Picks at random while few are known. The same
/// `random` and the same trials give the same result.
TrialValues promising_trial(const std::vector<job::Parameter>& parameters,
                            const std::vector<KnownTrial>& known,
                            std::mt19937_64& random);

/// A Gaussian process through measured points, which predicts the values between them. Its kernel
/// is Matern's with 5/2, with one length for each coordinate. Lengths and noise are chosen from a
/// few candidates to maximize the likelihood of the measured values (Rasmussen and Williams,
/// Gaussian Processes for Machine Learning, algorithm 2.1 and section 5.4).
class GaussianProcess {
public:
  using Point = std::vector<double>;

  struct Prediction {
    double mean{0};
    double deviation{0};
  };

  /// `points` are in the unit cube, at least one; `values` have mean 0 and variance 1.
  GaussianProcess(std::vector<Point> points, std::vector<double> values);

  Prediction at(const Point& point) const;

private:
  /// The fitted parameters.
  struct Shape {
    std::vector<double> lengths{};
    double noise{0};  ///< variance, relative to that of the values
  };

  double kernel(const Point& a, const Point& b) const;
  void choose_shape();
  /// Accepts the shape if it makes the values more likely than the current one.
  void try_shape(const Shape& shape);
  double fit();

  std::vector<Point> points_;
  std::vector<double> values_;
  Shape shape_{};
  double likelihood_{0};
  double variance_{1};
  std::vector<double> factor_{};   ///< lower triangle of the covariance's Cholesky factor, by rows
  std::vector<double> weights_{};  ///< the covariance's inverse times the values
};

}  // namespace autopack::local
