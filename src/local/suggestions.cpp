#include "local/suggestions.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "local/bayesian_search.hpp"
#include "local/search.hpp"

#include <algorithm>
#include <utility>

namespace autopack::local {

namespace {

bool is_grid(const job::Study& study) {
  return study.algorithm.value_or("") == "GRID_SEARCH";
}

/// Returns the same seed for the same study, whatever else the job contains.
std::uint64_t seed_of(const job::Job& job) {
  const job::Job bare{.study = job.study, .kind = job.kind};
  return std::stoull(sha256(print_json(job::resource(bare))).hex().substr(0, 16), nullptr, 16);
}

/// Uses one sequence for each trial, so that the order of earlier trials does not matter.
std::mt19937_64 random_of(std::uint64_t seed, std::size_t trial) {
  constexpr auto half = 32U;
  std::seed_seq words{seed, seed >> half, static_cast<std::uint64_t>(trial)};
  return std::mt19937_64{words};
}

/// Converts trials for the search.
std::vector<KnownTrial> known_trials(const std::vector<Trial>& trials, const Goals& goals) {
  std::vector<KnownTrial> known;
  for (const auto& trial : trials) {
    KnownTrial one{.values = trial.values};
    if (trial.has_ended() && trial.last) {
      one.outcome = KnownTrial::Outcome::measured;
      one.loss = goals.loss_of(*trial.last).value_or(0);
    } else if (trial.has_ended()) {
      one.outcome = KnownTrial::Outcome::failed;
    }
    known.push_back(std::move(one));
  }
  return known;
}

}  // namespace

bool is_bayesian(const job::Study& study) {
  const auto algorithm = study.algorithm.value_or("");
  return algorithm.empty() || algorithm == "ALGORITHM_UNSPECIFIED";
}

Suggestions::Suggestions(const job::Job& job,
                         const std::vector<Trial>& earlier,
                         std::size_t most_trials)
    : parameters_{job.study->parameters.value_or(std::vector<job::Parameter>{})},
      goals_{goals_of(*job.study)},
      is_grid_{is_grid(*job.study)},
      is_bayesian_{is_bayesian(*job.study)},
      most_trials_{most_trials},
      seed_{seed_of(job)} {
  if (!is_grid_) {
    return;
  }
  for (auto& values : grid(parameters_, most_trials)) {
    if (std::ranges::none_of(earlier, [&](const Trial& trial) { return trial.values == values; })) {
      grid_.push_back(std::move(values));
    }
  }
  std::ranges::reverse(grid_);  // the next one is taken from the end
  most_trials_ = std::min(most_trials, earlier.size() + grid_.size());
}

TrialValues Suggestions::next(const std::vector<Trial>& trials) {
  if (is_grid_) {
    auto values = std::move(grid_.back());
    grid_.pop_back();
    return values;
  }
  auto random = random_of(seed_, trials.size());
  return is_bayesian_ ? promising_trial(parameters_, known_trials(trials, goals_), random)
                      : draw(parameters_, random);
}

}  // namespace autopack::local
