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

/// Reports the parts of a study that behave differently here.
Problems check_study_for_host(const job::Job& job);

/// Runs the trials of a tuning job here: each is the job with its parameters as additional
/// arguments. Runs as many at once as the job allows. In a resumed study, ended trials count and
/// the others run again.
class StudyRun {
public:
  StudyRun(LocalJob& local, const job::Job& job, LocalOptions& options);

  /// Runs the trials to the end; the job's `trials` describe each. Throws as run_cluster does.
  Ending to_the_end();

private:
  void read_earlier();
  std::optional<std::size_t> next_trial();
  void run_trials();
  void run_trial(std::size_t number);
  /// Makes the name unique, because late requests of a killed run may take effect after this run
  /// cleaned up.
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
  std::vector<std::size_t> again_{};  ///< interrupted trials
  std::string network_{};             ///< shared by all trials
  bool is_cancelled_{false};
};

}  // namespace autopack::local
