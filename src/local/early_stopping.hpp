#pragma once

#include "job/study.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace autopack::local {

/// What a trial had reported at one point of its way.
struct CurvePoint {
  double at{0};    ///< step, or seconds since its start
  double loss{0};  ///< the less, the better
};

/// In the order of `at`.
using Curve = std::vector<CurvePoint>;

/// When a trial ends before its program does, as the API describes its three automated stopping
/// specs.
struct StoppingRule {
  enum class Kind { median, decay_curve, convex };

  Kind kind{Kind::median};
  bool by_time{false};  ///< seconds, not steps, say how far a trial is
  // Of a convex rule alone:
  std::size_t least_measurements{5};
  std::optional<double> least_steps{};  ///< a tenth of `most_steps` where none is given
  std::optional<double> most_steps{};   ///< those of the trials that ended where none is given
};

/// The rule of a study; none without.
std::optional<StoppingRule> stopping_rule(const job::Study& study);

/// True when the rule ends a running trial, of which `running` is known, with what the trials that
/// have ended reported. False until there are three of those, for a convex rule six.
bool is_hopeless(const StoppingRule& rule, const Curve& running, const std::vector<Curve>& ended);

}  // namespace autopack::local
