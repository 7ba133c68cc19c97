#include "base/text.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace autopack::job {

namespace {

class StudyCheck {
public:
  StudyCheck(const Study& study, Review& review) : study_{study}, review_{review} {}

  void run();

private:
  void metrics();
  void parameters();
  void not_in_jobs();

  const Study& study_;
  Review& review_;
};

void StudyCheck::metrics() {
  const auto metrics = study_.metrics.value_or(std::vector<Metric>{});
  if (metrics.empty() && (study_.metrics || !review_.was_given("studySpec.metrics"))) {
    review_.error("studySpec.metrics", "the study has no metric",
                  {"name one that the program reports: --metric accuracy:maximize"});
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto path = fmt::format("studySpec.metrics[{}]", i);
    const auto id = metrics[i].id.value_or("");
    check_identifier(metrics[i].id, path + ".metricId", "metric", review_);
    if (!id.empty() && !seen.insert(id).second) {
      review_.error(path, fmt::format("metric `{}` is given twice", printable(id)));
    }
    if (metrics[i].goal == "GOAL_TYPE_UNSPECIFIED") {
      review_.error(path + ".goal",
                    fmt::format("metric `{}` needs a goal: MAXIMIZE or MINIMIZE", printable(id)));
    }
  }
}

/// Warns about parts of a study that only Vizier itself uses.
void StudyCheck::not_in_jobs() {
  if (study_.observation_noise) {
    review_.warning("studySpec.observationNoise",
                    "`studySpec.observationNoise` is not used by tuning jobs, only by Vizier");
  }
  const auto metrics = study_.metrics.value_or(std::vector<Metric>{});
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].safety) {
      const auto path = fmt::format("studySpec.metrics[{}].safetyConfig", i);
      review_.warning(
          path, fmt::format("{} is not used by tuning jobs, only by Vizier", shown_path(path)));
    }
  }
}

void StudyCheck::parameters() {
  const auto parameters = study_.parameters.value_or(std::vector<Parameter>{});
  if (parameters.empty() && (study_.parameters || !review_.was_given("studySpec.parameters"))) {
    review_.error("studySpec.parameters", "the study has no parameter",
                  {"name one that the program accepts as --NAME: --parameter "
                   "lr:double:1e-5..1e-1:log"});
  }
  std::set<std::string> seen;
  std::vector<std::string> doubles;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto path = fmt::format("studySpec.parameters[{}]", i);
    const auto id = parameters[i].id.value_or("");
    if (!id.empty() && !seen.insert(id).second) {
      review_.error(path, fmt::format("parameter `{}` is given twice", printable(id)));
    }
    for (auto& name : check_parameter(parameters[i], path, review_)) {
      doubles.push_back(std::move(name));
    }
  }
  if (study_.algorithm == "GRID_SEARCH" && !doubles.empty()) {
    review_.warning("studySpec.algorithm",
                    fmt::format("a grid search wants INTEGER, DISCRETE or CATEGORICAL parameters; "
                                "`{}` is a DOUBLE",
                                printable(doubles.front())));
  }
}

void StudyCheck::run() {
  metrics();
  parameters();
  not_in_jobs();
}

void check_least(std::int64_t count, const std::string& key, Review& review) {
  if (count < 1) {
    review.error(key, fmt::format("{} is {}; at least one trial runs", shown_path(key), count));
  }
}

void check_counts(const Job& job, Review& review) {
  const auto all = job.max_trials.value_or(1);
  const auto parallel = job.parallel_trials.value_or(1);
  check_least(all, "maxTrialCount", review);
  check_least(parallel, "parallelTrialCount", review);
  if (parallel > all && all > 0) {
    review.error("parallelTrialCount",
                 fmt::format("{} trials run at a time, but only {} in all", parallel, all),
                 {fmt::format("--max-trial-count={}", parallel)});
  }
  if (job.max_failed_trials.value_or(0) < 0) {
    review.error("maxFailedTrialCount",
                 fmt::format("`maxFailedTrialCount` is {}; 0 lets the service decide",
                             *job.max_failed_trials));
  }
}

}  // namespace

void check_study(const Job& job, Review& review) {
  StudyCheck{job.study.value_or(Study{}), review}.run();
  check_counts(job, review);
}

}  // namespace autopack::job
