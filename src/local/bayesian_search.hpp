#pragma once

#include "local/parameter_values.hpp"

#include <random>
#include <vector>

namespace autopack::local {

/// A trial that a search knows.
struct KnownTrial {
  enum class Outcome { running, failed, measured };

  TrialValues values{};
  Outcome outcome{Outcome::running};
  double loss{0};  ///< what was measured: the less, the better
};

/// The trial that promises most beyond the best one known, by a Gaussian process through all that
/// are known (Mockus' expected improvement). At random while few are known. The same `random` and
/// the same trials: the same answer.
TrialValues promising_trial(const std::vector<job::Parameter>& parameters,
                            const std::vector<KnownTrial>& known,
                            std::mt19937_64& random);

}  // namespace autopack::local
