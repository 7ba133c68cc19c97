#pragma once

#include <cstddef>
#include <vector>

namespace autopack::local {

/// A Gaussian process through measured points: what is to be expected between them. Its kernel is
/// Matern's with 5/2, one length for each coordinate; lengths and noise are those that make the
/// measured values likely, chosen from a few (Rasmussen and Williams, Gaussian Processes for
/// Machine Learning, algorithm 2.1 and section 5.4).
class GaussianProcess {
public:
  using Point = std::vector<double>;

  /// What is expected at a point.
  struct Prediction {
    double mean{0};
    double deviation{0};
  };

  /// `points` in the unit cube, at least one, and the value at each: of mean 0 and variance 1.
  GaussianProcess(std::vector<Point> points, std::vector<double> values);

  Prediction at(const Point& point) const;

private:
  /// What is fitted.
  struct Shape {
    std::vector<double> lengths{};
    double noise{0};  ///< variance, in parts of that of the values
  };

  double kernel(const Point& a, const Point& b) const;
  void choose_shape();
  /// Takes it when it makes the values likelier than the one before.
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
