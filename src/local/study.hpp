#pragma once

#include "local/early_stopping.hpp"
#include "local/local_job.hpp"
#include "local/metrics.hpp"
#include "local/suggestions.hpp"
#include "local/trial.hpp"

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// What of a study goes another way here.
Problems check_study_for_desk(const job::Job& job);

/// The trials of a tuning job, run here: each is the job once more, with its parameters as further
/// arguments. Runs as many at once as the job allows. Of a study that goes on, the trials that have
/// ended count, and the others run again.
class StudyRun {
public:
  StudyRun(LocalJob& local, const job::Job& job, LocalOptions& options);

  /// Runs the trials to the end; the job's `trials` tell of each. Throws as run_cluster does.
  Ending to_the_end();

private:
  void read_earlier();
  std::optional<std::size_t> next_trial();
  void run_trials();
  void run_trial(std::size_t number);
  /// Set apart from a killed run's, whose last requests may be answered after this one cleaned up.
  std::string own_name(const std::string& name) const;
  bool is_to_stop(Trial& trial, const Cluster& cluster);
  std::vector<Measurement> read_report(const Trial& trial,
                                       const std::optional<std::string>& report) const;
  Curve curve_of(const Trial& trial) const;
  void judge(Trial& trial, const Ending& ending, const std::optional<std::string>& report) const;
  void put_trials();
  Ending ending() const;
  bool has_failed() const;
  std::size_t count(const std::string& state) const;

  LocalJob& local_;
  const job::Job& job_;
  LocalOptions& options_;
  Goals goals_;
  std::optional<StoppingRule> stopping_;
  std::optional<Suggestions> suggestions_{};
  std::mutex mutex_;
  std::vector<Trial> trials_{};
  std::vector<std::size_t> again_{};  ///< those that were broken off
  std::string network_{};             ///< of all trials
  bool is_cancelled_{false};
};

}  // namespace autopack::local
