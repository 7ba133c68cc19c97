#include "base/json.hpp"
#include "base/text.hpp"
#include "job/legacy.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <cmath>

namespace autopack::job {

using nlohmann::json;

namespace {

const std::string hyperparameters = "trainingInput.hyperparameters";

/// Whole numbers stand as doubles in the legacy API and as text in Vertex AI's.
std::string whole_number(Legacy& legacy,
                         const json& parameter,
                         const char* key,
                         const std::string& path) {
  const auto number = parameter.value(key, 0.0);
  if (std::trunc(number) != number || std::abs(number) > 9e15) {
    legacy.error(path, fmt::format("`{}` of `{}` is {}, no whole number", key,
                                   printable(text_of(parameter, "parameterName")), number));
    return "0";
  }
  return fmt::format("{:.0f}", number);
}

/// That the parameter has the keys that its type wants.
bool has_all(Legacy& legacy,
             const json& parameter,
             std::initializer_list<const char*> keys,
             const std::string& path) {
  bool complete = true;
  for (const auto* key : keys) {
    if (!parameter.contains(key)) {
      legacy.error(path, fmt::format("parameter `{}` has no `{}`",
                                     printable(text_of(parameter, "parameterName")), key));
      complete = false;
    }
  }
  return complete;
}

json parameter_of(Legacy& legacy, const json& parameter, const std::string& path) {
  json result{{"parameterId", text_of(parameter, "parameterName")}};
  const auto type = text_of(parameter, "type");
  if (type == "DOUBLE") {
    if (has_all(legacy, parameter, {"minValue", "maxValue"}, path)) {
      result["doubleValueSpec"] = {{"minValue", parameter["minValue"]},
                                   {"maxValue", parameter["maxValue"]}};
    }
  } else if (type == "INTEGER") {
    if (has_all(legacy, parameter, {"minValue", "maxValue"}, path)) {
      result["integerValueSpec"] = {
          {"minValue", whole_number(legacy, parameter, "minValue", path)},
          {"maxValue", whole_number(legacy, parameter, "maxValue", path)}};
    }
  } else if (type == "CATEGORICAL") {
    if (has_all(legacy, parameter, {"categoricalValues"}, path)) {
      result["categoricalValueSpec"] = {{"values", parameter["categoricalValues"]}};
    }
  } else if (type == "DISCRETE") {
    if (has_all(legacy, parameter, {"discreteValues"}, path)) {
      result["discreteValueSpec"] = {{"values", parameter["discreteValues"]}};
    }
  } else {
    legacy.error(path, fmt::format("parameter `{}` has no type: DOUBLE, INTEGER, CATEGORICAL or "
                                   "DISCRETE",
                                   printable(text_of(parameter, "parameterName"))));
  }
  const auto scale = text_of(parameter, "scaleType");
  if (scale.empty() || scale == "NONE") {
    return result;
  }
  if (type == "CATEGORICAL") {
    legacy.warn(path, fmt::format("the scale of categories `{}` is left out: they have none",
                                  printable(text_of(parameter, "parameterName"))));
  } else {
    result["scaleType"] = scale;
  }
  return result;
}

/// Ids may hold no white space, as tags may.
std::string metric_id(Legacy& legacy, const json& spec) {
  auto tag = spec.value("hyperparameterMetricTag", "training/hptuning/metric");
  const auto path = hyperparameters + ".hyperparameterMetricTag";
  if (tag.find_first_of(" \t\r\n\v\f") != std::string::npos) {
    legacy.error(path,
                 fmt::format("`{}` is no id for a metric: it holds white space", printable(tag)),
                 {"report it by another name, here and in the program"});
  } else if (!spec.contains("hyperparameterMetricTag")) {
    legacy.warn(hyperparameters,
                fmt::format("the job names no metric: the service's default `{}` is taken", tag));
  }
  return tag;
}

}  // namespace

void translate_study(Legacy& legacy, json& body) {
  const auto& spec = legacy.input()["hyperparameters"];
  auto goal = text_of(spec, "goal");
  if (goal.empty() || goal == "GOAL_TYPE_UNSPECIFIED") {
    legacy.missing(hyperparameters + ".goal",
                   "the hyperparameters have no goal: MAXIMIZE or MINIMIZE");
  }
  auto& study = body["studySpec"];
  study["metrics"] = json::array({{{"metricId", metric_id(legacy, spec)}, {"goal", goal}}});
  study["parameters"] = json::array();
  const auto parameters = spec.value("params", json::array());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    study["parameters"].push_back(
        parameter_of(legacy, parameters[i], fmt::format("{}.params[{}]", hyperparameters, i)));
  }
  const auto algorithm = text_of(spec, "algorithm");
  if (!algorithm.empty() && algorithm != "ALGORITHM_UNSPECIFIED") {
    study["algorithm"] = algorithm;
  }
  if (spec.value("enableTrialEarlyStopping", false)) {
    study["medianAutomatedStoppingSpec"] = json::object();
  }
  body["maxTrialCount"] = spec.value("maxTrials", 1);
  body["parallelTrialCount"] = spec.value("maxParallelTrials", 1);
  if (spec.contains("maxFailedTrials")) {
    body["maxFailedTrialCount"] = spec["maxFailedTrials"];
  }
  if (spec.contains("resumePreviousJobId")) {
    legacy.warn(hyperparameters + ".resumePreviousJobId",
                "`resumePreviousJobId` has no equal: the study begins anew");
  }
}

}  // namespace autopack::job
