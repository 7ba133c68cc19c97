#pragma once

#include "job/job.hpp"
#include "local/metrics.hpp"
#include "local/parameter_values.hpp"
#include "local/trial.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace autopack::local {

/// True when no algorithm is named: as on Vertex AI, the search is Bayesian then.
bool is_bayesian(const job::Study& study);

/// What a study tries next. The same study gets the same: what is drawn depends on what it searches
/// and on the number of the trial.
class Suggestions {
public:
  /// Of a grid, what no earlier trial has tried.
  Suggestions(const job::Job& job, const std::vector<Trial>& earlier, std::size_t most_trials);

  /// How many trials there are in all: a grid may have fewer than the job allows.
  std::size_t most_trials() const { return most_trials_; }

  /// The values of the trial after `trials`, which are fewer than most_trials().
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
