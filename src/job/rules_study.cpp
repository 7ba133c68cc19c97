#include "base/json.hpp"
#include "base/text.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace autopack::job {

using nlohmann::json;

namespace {

constexpr std::size_t most_discrete_values = 1000;
constexpr double least_distance = 1e-10;  // between discrete values
constexpr std::array value_specs{
    std::string_view{"doubleValueSpec"}, std::string_view{"integerValueSpec"},
    std::string_view{"discreteValueSpec"}, std::string_view{"categoricalValueSpec"}};

bool holds_white_space(std::string_view text) {
  return text.find_first_of(" \t\r\n\v\f") != std::string_view::npos;
}

/// The kind of values that a parameter has: a key of it, empty when it has none or several.
std::string_view spec_of(const json& parameter) {
  std::string_view found;
  for (const auto key : value_specs) {
    if (parameter.contains(key)) {
      if (!found.empty()) {
        return {};
      }
      found = key;
    }
  }
  return found;
}

double number_at(const json& spec, std::string_view key) {
  const auto& value = spec.at(std::string{key});
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

class StudyCheck {
public:
  StudyCheck(const json& study, Findings& findings) : study_{study}, findings_{findings} {}

  void run();

private:
  void metrics();
  void identifier(const std::string& id, const std::string& path, std::string_view what);
  void parameter(const json& parameter, const std::string& path);
  void values(const json& parameter, std::string_view kind, const std::string& path);
  void range(const json& spec, const std::string& path);
  void discrete(const json& spec, const std::string& path);
  void categories(const json& spec, const std::string& path);
  void scale(const json& parameter, std::string_view kind, const std::string& path);
  void conditional(const json& parent, const json& child, const std::string& path);
  void condition(const json& parent,
                 const json& values,
                 std::string_view kind,
                 const std::string& path);
  void not_in_jobs();

  const json& study_;
  Findings& findings_;
  std::set<std::string> names_{};
  std::vector<std::string> doubles_{};  ///< parameters that a grid cannot search
};

void StudyCheck::identifier(const std::string& id, const std::string& path, std::string_view what) {
  if (id.empty() && !findings_.was_given(path)) {
    findings_.error(path, fmt::format("{} is missing", shown_path(path)));
  } else if (holds_white_space(id)) {
    findings_.error(
        path, fmt::format("`{}` is no name for a {}: it holds white space", printable(id), what));
  }
}

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
    identifier(id, path + ".metricId", "metric");
    if (!id.empty() && !seen.insert(id).second) {
      findings_.error(path, fmt::format("metric `{}` stands twice", printable(id)));
    }
    if (text_of(metrics[i], "goal") == "GOAL_TYPE_UNSPECIFIED") {
      findings_.error(path + ".goal",
                      fmt::format("metric `{}` needs a goal: MAXIMIZE or MINIMIZE", printable(id)));
    }
  }
}

void StudyCheck::range(const json& spec, const std::string& path) {
  if (!spec.contains("minValue") || !spec.contains("maxValue")) {
    return;
  }
  const auto least = number_at(spec, "minValue");
  const auto most = number_at(spec, "maxValue");
  if (least > most) {
    findings_.error(path, fmt::format("the range of {} ends before it begins: {} to {}",
                                      shown_path(path), least, most));
  }
}

void StudyCheck::discrete(const json& spec, const std::string& path) {
  const auto values = spec.value("values", json::array());
  if (values.size() > most_discrete_values) {
    findings_.error(path, fmt::format("{} has {} values; the service takes {}", shown_path(path),
                                      values.size(), most_discrete_values));
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    const auto before = values[i - 1].get<double>();
    const auto value = values[i].get<double>();
    if (value - before < least_distance) {
      findings_.error(path, fmt::format("the values of {} must increase, by 1e-10 at least: {} "
                                        "follows {}",
                                        shown_path(path), value, before));
      return;
    }
  }
}

void StudyCheck::categories(const json& spec, const std::string& path) {
  std::set<std::string> seen;
  for (const auto& value : spec.value("values", json::array())) {
    const auto text = value.get<std::string>();
    if (!seen.insert(text).second) {
      findings_.error(
          path, fmt::format("value `{}` of {} stands twice", printable(text), shown_path(path)));
    }
  }
}

void StudyCheck::scale(const json& parameter, std::string_view kind, const std::string& path) {
  const auto scale = text_of(parameter, "scaleType");
  if (scale.empty() || scale == "SCALE_TYPE_UNSPECIFIED") {
    return;
  }
  if (kind == "categoricalValueSpec") {
    findings_.error(path + ".scaleType",
                    fmt::format("{} has categories, which have no scale", shown_path(path)));
    return;
  }
  const auto& spec = parameter.at(std::string{kind});
  const bool is_log = scale != "UNIT_LINEAR_SCALE";
  double least = 1;
  if (spec.contains("minValue")) {
    least = number_at(spec, "minValue");
  } else if (const auto values = spec.value("values", json::array()); !values.empty()) {
    least = values[0].get<double>();
  }
  if (is_log && least <= 0) {
    findings_.error(path + ".scaleType",
                    fmt::format("{} begins at {}, but a log scale needs values above 0",
                                shown_path(path), least));
  }
}

void StudyCheck::values(const json& parameter, std::string_view kind, const std::string& path) {
  const auto& spec = parameter.at(std::string{kind});
  const auto at = fmt::format("{}.{}", path, kind);
  const bool has_list = kind == "discreteValueSpec" || kind == "categoricalValueSpec";
  if (has_list && spec.contains("values") && spec["values"].empty()) {
    findings_.error(at, fmt::format("{} has no values", shown_path(at)));
  }
  if (kind == "discreteValueSpec") {
    discrete(spec, at);
  } else if (kind == "categoricalValueSpec") {
    categories(spec, at);
  } else {
    range(spec, at);
  }
  if (kind == "doubleValueSpec") {
    doubles_.push_back(text_of(parameter, "parameterId"));
  }
  if (spec.contains("defaultValue")) {
    findings_.warning(at + ".defaultValue",
                      fmt::format("{} is not used by tuning jobs, only by Vizier",
                                  shown_path(at + ".defaultValue")));
  }
  scale(parameter, kind, path);
}

void StudyCheck::parameter(const json& parameter, const std::string& path) {
  const auto id = text_of(parameter, "parameterId");
  identifier(id, path + ".parameterId", "parameter");
  const auto kind = spec_of(parameter);
  const bool has_any = std::any_of(value_specs.begin(), value_specs.end(), [&](auto key) {
    return parameter.contains(key) || findings_.was_given(fmt::format("{}.{}", path, key));
  });
  if (!kind.empty()) {
    values(parameter, kind, path);
  } else if (!has_any) {
    findings_.error(path, fmt::format("parameter `{}` has no values: {} is wanted", printable(id),
                                      fmt::join(value_specs, ", ")));
  }
  const auto children = parameter.value("conditionalParameterSpecs", json::array());
  for (std::size_t i = 0; i < children.size(); ++i) {
    conditional(parameter, children[i], fmt::format("{}.conditionalParameterSpecs[{}]", path, i));
  }
}

/// That every value of a condition is one that the parent can have.
void StudyCheck::condition(const json& parent,
                           const json& values,
                           std::string_view kind,
                           const std::string& path) {
  const auto& spec = parent.at(std::string{kind});
  for (const auto& value : values) {
    bool possible = true;
    if (kind == "integerValueSpec") {
      const auto number = std::stod(value.get<std::string>());
      possible = !spec.contains("minValue") || !spec.contains("maxValue") ||
                 (number >= number_at(spec, "minValue") && number <= number_at(spec, "maxValue"));
    } else {
      const auto all = spec.value("values", json::array());
      possible = std::find(all.begin(), all.end(), value) != all.end();
    }
    if (!possible) {
      const auto text = value.is_string() ? value.get<std::string>() : print_json(value);
      findings_.error(path,
                      fmt::format("{}: parent `{}` never has the value `{}`", shown_path(path),
                                  text_of(parent, "parameterId"), printable(text)));
    }
  }
}

void StudyCheck::conditional(const json& parent, const json& child, const std::string& path) {
  static constexpr std::array<std::array<std::string_view, 2>, 3> kinds{{
      {"parentCategoricalValues", "categoricalValueSpec"},
      {"parentIntValues", "integerValueSpec"},
      {"parentDiscreteValues", "discreteValueSpec"},
  }};
  const auto parent_kind = spec_of(parent);
  bool has_condition = false;
  for (const auto& [key, kind] : kinds) {
    const auto at = fmt::format("{}.{}", path, key);
    if (!child.contains(key)) {
      continue;
    }
    has_condition = true;
    const auto values = child.at(std::string{key}).value("values", json::array());
    if (kind == parent_kind) {
      condition(parent, values, kind, at);
    } else if (!parent_kind.empty()) {
      findings_.error(at, fmt::format("{} does not fit parent `{}`, which has `{}`", shown_path(at),
                                      text_of(parent, "parameterId"), parent_kind));
    }
    if (values.empty() && !findings_.was_given(at + ".values[0]")) {
      findings_.error(at, fmt::format("{} names no value", shown_path(at)));
    }
  }
  if (!has_condition) {
    findings_.error(path,
                    fmt::format("{} names no values of its parent `{}`", shown_path(path),
                                text_of(parent, "parameterId")),
                    {"parentCategoricalValues, parentIntValues or parentDiscreteValues, by the "
                     "parent's kind"});
  }
  if (child.contains("parameterSpec")) {
    parameter(child["parameterSpec"], path + ".parameterSpec");
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

void StudyCheck::run() {
  metrics();
  const auto parameters = study_.value("parameters", json::array());
  if (parameters.empty() &&
      (study_.contains("parameters") || !findings_.was_given("studySpec.parameters"))) {
    findings_.error("studySpec.parameters", "the study has no parameter",
                    {"name one that the program takes as --NAME: --parameter "
                     "lr:double:1e-5..1e-1:log"});
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto path = fmt::format("studySpec.parameters[{}]", i);
    const auto id = text_of(parameters[i], "parameterId");
    if (!id.empty() && !names_.insert(id).second) {
      findings_.error(path, fmt::format("parameter `{}` stands twice", printable(id)));
    }
    parameter(parameters[i], path);
  }
  if (text_of(study_, "algorithm") == "GRID_SEARCH" && !doubles_.empty()) {
    findings_.warning(
        "studySpec.algorithm",
        fmt::format("a grid search wants INTEGER, DISCRETE or CATEGORICAL parameters; "
                    "`{}` is a DOUBLE",
                    printable(doubles_.front())));
  }
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
