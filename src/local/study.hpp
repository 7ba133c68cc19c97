#pragma once

#include "job/job.hpp"
#include "job/study.hpp"
#include "local/local_job.hpp"
#include "local/metrics.hpp"
#include "local/parameter_values.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// A run of a study's program with its own values.
struct Trial {
  std::string id{};
  TrialValues values{};
  /// The API's name. `STOPPING` is a trial that was ended: by a rule if it has an end, else because
  /// the study was cancelled.
  std::string state{"ACTIVE"};
  std::vector<Measurement> measured{};  ///< intermediate ones, if they may stop it
  std::optional<Measurement> last{};    ///< the final one
  std::optional<std::string> reason{};  ///< why it is infeasible
  std::string started{};
  std::optional<std::string> ended{};  ///< absent: neither the program nor a rule has ended it

  bool has_ended() const { return ended.has_value(); }
};

/// Returns the trial in the API's form.
nlohmann::json resource_of(const Trial& trial);

/// Parses such a resource; returns nothing if it is not a trial.
std::optional<Trial> read_trial(const nlohmann::json& resource);

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
