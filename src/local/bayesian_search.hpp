#pragma once

#include "local/parameter_values.hpp"

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

}  // namespace autopack::local
