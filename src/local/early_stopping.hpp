#pragma once

#include "job/study.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace autopack::local {

/// A measurement of a trial at one point.
struct CurvePoint {
  double at{0};    ///< step, or seconds since its start
  double loss{0};  ///< less is better
};

/// Ordered by `at`.
using Curve = std::vector<CurvePoint>;

/// The rule that ends a trial before its program ends. The API has three automated stopping specs.
struct StoppingRule {
  enum class Kind { median, decay_curve, convex };

  Kind kind{Kind::median};
  bool by_time{false};  ///< progress is measured in seconds, not steps
  // For a convex rule only:
  std::size_t least_measurements{5};
  std::optional<double> least_steps{};  ///< if absent, a tenth of `most_steps`
  std::optional<double> most_steps{};   ///< if absent, those of the trials that ended
};

/// Returns the rule of a study, or nothing without one.
std::optional<StoppingRule> stopping_rule(const job::Study& study);

/// Returns true if the rule ends a running trial with the measurements `running`, compared with
/// those of ended trials. Needs at least three ended trials; a convex rule needs six.
bool is_hopeless(const StoppingRule& rule, const Curve& running, const std::vector<Curve>& ended);

}  // namespace autopack::local
