#include "base/text.hpp"
#include "job/legacy.hpp"

#include <fmt/format.h>

#include <cmath>

namespace autopack::job {

namespace {

const std::string hyperparameters = "trainingInput.hyperparameters";

/// Translates a parameter of the legacy job to Vertex AI.
class ParameterTranslation {
public:
  ParameterTranslation(Legacy& legacy, const LegacyParameter& parameter, std::string path)
      : legacy_{legacy},
        parameter_{parameter},
        name_{parameter.name.value_or("")},
        path_{std::move(path)} {}

  Parameter run();

private:
  /// Checks that the parameter has a key that its type requires.
  bool has(bool given, const char* key);
  std::int64_t whole_number(double number, const char* key);
  void values(Parameter& result);
  void scale(Parameter& result);

  Legacy& legacy_;
  const LegacyParameter& parameter_;
  std::string name_;
  std::string path_;
};

bool ParameterTranslation::has(bool given, const char* key) {
  if (!given) {
    legacy_.error(path_, fmt::format("parameter `{}` has no `{}`", printable(name_), key));
  }
  return given;
}

/// The legacy API has whole numbers as doubles.
std::int64_t ParameterTranslation::whole_number(double number, const char* key) {
  if (std::trunc(number) != number || std::abs(number) > 9e15) {
    legacy_.error(
        path_, fmt::format("`{}` of `{}` is {}, no whole number", key, printable(name_), number));
    return 0;
  }
  return static_cast<std::int64_t>(number);
}

void ParameterTranslation::values(Parameter& result) {
  const auto type = parameter_.type.value_or("");
  const auto least = parameter_.least;
  const auto most = parameter_.most;
  if (type == "DOUBLE" || type == "INTEGER") {
    const bool has_least = has(least.has_value(), "minValue");
    const bool has_most = has(most.has_value(), "maxValue");
    if (!has_least || !has_most) {
      return;
    }
    if (type == "DOUBLE") {
      result.real = RealRange{.least = least, .most = most};
    } else {
      result.whole = WholeRange{.least = whole_number(*least, "minValue"),
                                .most = whole_number(*most, "maxValue")};
    }
  } else if (type == "CATEGORICAL") {
    if (has(parameter_.categories.has_value(), "categoricalValues")) {
      result.categories = Categories{.values = parameter_.categories};
    }
  } else if (type == "DISCRETE") {
    if (has(parameter_.discrete.has_value(), "discreteValues")) {
      result.discrete = DiscreteValues{.values = parameter_.discrete};
    }
  } else {
    legacy_.error(path_, fmt::format("parameter `{}` has no type: DOUBLE, INTEGER, CATEGORICAL or "
                                     "DISCRETE",
                                     printable(name_)));
  }
}

void ParameterTranslation::scale(Parameter& result) {
  const auto scale = parameter_.scale.value_or("");
  if (scale.empty() || scale == "NONE") {
    return;
  }
  if (parameter_.type == "CATEGORICAL") {
    legacy_.warn(path_,
                 fmt::format("the scale of the categories `{}` is ignored: categories have none",
                             printable(name_)));
  } else {
    result.scale = scale;
  }
}

Parameter ParameterTranslation::run() {
  Parameter result{.id = name_};
  values(result);
  scale(result);
  return result;
}

/// Unlike tags, ids must not contain white space.
std::string metric_id(Legacy& legacy, const LegacyStudy& study) {
  auto tag = study.metric.value_or("training/hptuning/metric");
  const auto path = hyperparameters + ".hyperparameterMetricTag";
  if (tag.find_first_of(" \t\r\n\v\f") != std::string::npos) {
    legacy.error(
        path,
        fmt::format("`{}` is not a valid id for a metric: it contains white space", printable(tag)),
        {"report it by another name, here and in the program"});
  } else if (!study.metric) {
    legacy.warn(hyperparameters,
                fmt::format("the job has no metric: it gets the service's default `{}`", tag));
  }
  return tag;
}

}  // namespace

void translate_study(Legacy& legacy, const LegacyStudy& study, Job& job) {
  const auto goal = study.goal.value_or("");
  if (goal.empty() || goal == "GOAL_TYPE_UNSPECIFIED") {
    legacy.missing(hyperparameters + ".goal",
                   "the hyperparameters have no goal: MAXIMIZE or MINIMIZE");
  }
  auto& result = job.study.emplace();
  result.metrics = {{.id = metric_id(legacy, study), .goal = goal}};
  auto& parameters = result.parameters.emplace();
  for (std::size_t i = 0; i < study.parameters.size(); ++i) {
    parameters.push_back(ParameterTranslation{legacy, study.parameters[i],
                                              fmt::format("{}.params[{}]", hyperparameters, i)}
                             .run());
  }
  const auto algorithm = study.algorithm.value_or("");
  if (!algorithm.empty() && algorithm != "ALGORITHM_UNSPECIFIED") {
    result.algorithm = algorithm;
  }
  if (study.stops_early.value_or(false)) {
    result.median_stopping.emplace();
  }
  job.max_trials = study.max_trials.value_or(1);
  job.parallel_trials = study.parallel_trials.value_or(1);
  job.max_failed_trials = study.max_failed_trials;
  if (study.previous_job) {
    legacy.warn(hyperparameters + ".resumePreviousJobId",
                "`resumePreviousJobId` has no equivalent: the study starts from scratch");
  }
}

}  // namespace autopack::job
