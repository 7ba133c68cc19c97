#include "base/json.hpp"
#include "base/text.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace autopack::job {

using nlohmann::json;

namespace {

class StudyCheck {
public:
  StudyCheck(const json& study, Findings& findings) : study_{study}, findings_{findings} {}

  void run();

private:
  void metrics();
  void parameters();
  void not_in_jobs();

  const json& study_;
  Findings& findings_;
};

void StudyCheck::metrics() {
  const auto metrics = study_.value("metrics", json::array());
  if (metrics.empty() &&
      (study_.contains("metrics") || !findings_.was_given("studySpec.metrics"))) {
    findings_.error("studySpec.metrics", "the study has no metric",
                    {"name one that the program reports: --metric accuracy:maximize"});
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto path = fmt::format("studySpec.metrics[{}]", i);
    const auto id = text_of(metrics[i], "metricId");
    check_identifier(id, path + ".metricId", "metric", findings_);
    if (!id.empty() && !seen.insert(id).second) {
      findings_.error(path, fmt::format("metric `{}` stands twice", printable(id)));
    }
    if (text_of(metrics[i], "goal") == "GOAL_TYPE_UNSPECIFIED") {
      findings_.error(path + ".goal",
                      fmt::format("metric `{}` needs a goal: MAXIMIZE or MINIMIZE", printable(id)));
    }
  }
}

/// Parts of a study that only Vizier itself uses.
void StudyCheck::not_in_jobs() {
  if (study_.contains("observationNoise")) {
    findings_.warning("studySpec.observationNoise",
                      "`studySpec.observationNoise` is not used by tuning jobs, only by Vizier");
  }
  const auto metrics = study_.value("metrics", json::array());
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].contains("safetyConfig")) {
      const auto path = fmt::format("studySpec.metrics[{}].safetyConfig", i);
      findings_.warning(
          path, fmt::format("{} is not used by tuning jobs, only by Vizier", shown_path(path)));
    }
  }
}

void StudyCheck::parameters() {
  const auto parameters = study_.value("parameters", json::array());
  if (parameters.empty() &&
      (study_.contains("parameters") || !findings_.was_given("studySpec.parameters"))) {
    findings_.error("studySpec.parameters", "the study has no parameter",
                    {"name one that the program takes as --NAME: --parameter "
                     "lr:double:1e-5..1e-1:log"});
  }
  std::set<std::string> seen;
  std::vector<std::string> doubles;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto path = fmt::format("studySpec.parameters[{}]", i);
    const auto id = text_of(parameters[i], "parameterId");
    if (!id.empty() && !seen.insert(id).second) {
      findings_.error(path, fmt::format("parameter `{}` stands twice", printable(id)));
    }
    for (auto& name : check_parameter(parameters[i], path, findings_)) {
      doubles.push_back(std::move(name));
    }
  }
  if (text_of(study_, "algorithm") == "GRID_SEARCH" && !doubles.empty()) {
    findings_.warning(
        "studySpec.algorithm",
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

void check_counts(const json& body, Findings& findings) {
  const auto count = [&](const char* key) -> std::int64_t {
    return body.contains(key) ? body[key].get<std::int64_t>() : 1;
  };
  for (const auto* key : {"maxTrialCount", "parallelTrialCount"}) {
    if (count(key) < 1) {
      findings.error(key,
                     fmt::format("{} is {}; at least one trial runs", shown_path(key), count(key)));
    }
  }
  if (count("parallelTrialCount") > count("maxTrialCount") && count("maxTrialCount") > 0) {
    findings.error("parallelTrialCount",
                   fmt::format("{} trials run at a time, but only {} in all",
                               count("parallelTrialCount"), count("maxTrialCount")),
                   {fmt::format("--max-trial-count={}", count("parallelTrialCount"))});
  }
  if (body.contains("maxFailedTrialCount") && count("maxFailedTrialCount") < 0) {
    findings.error("maxFailedTrialCount",
                   fmt::format("`maxFailedTrialCount` is {}; 0 lets the service decide",
                               count("maxFailedTrialCount")));
  }
}

}  // namespace

void check_study(const json& body, Findings& findings) {
  StudyCheck{body.value("studySpec", json::object()), findings}.run();
  check_counts(body, findings);
}

}  // namespace autopack::job
