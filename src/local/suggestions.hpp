#pragma once

#include "job/job.hpp"
#include "local/metrics.hpp"
#include "local/parameter_values.hpp"
#include "local/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace autopack::local {

/// Returns true if no algorithm is named: then the search is Bayesian, as on Vertex AI.
bool is_bayesian(const job::Study& study);

/// Suggests the next trials of a study. The same study gets the same suggestions: random values
/// depend only on the search space and the trial's number.
class Suggestions {
public:
  /// Skips combinations of a grid that an earlier trial has tried.
  Suggestions(const job::Job& job, const std::vector<Trial>& earlier, std::size_t most_trials);

  /// Returns the total number of trials: a grid may have fewer than the job allows.
  std::size_t most_trials() const { return most_trials_; }

  /// Returns the values of the trial after `trials`, which must be fewer than most_trials().
  TrialValues next(const std::vector<Trial>& trials);

private:
  std::vector<job::Parameter> parameters_;
  Goals goals_;
  bool is_grid_;
  bool is_bayesian_;
  std::size_t most_trials_;
  std::vector<TrialValues> grid_{};
  std::uint64_t seed_;
};

}  // namespace autopack::local
