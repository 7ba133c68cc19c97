#include "base/json.hpp"
#include "base/text.hpp"
#include "job/rules.hpp"

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

class ParameterCheck {
public:
  explicit ParameterCheck(Findings& findings) : findings_{findings} {}

  void parameter(const json& parameter, const std::string& path);

  const std::vector<std::string>& doubles() const { return doubles_; }

private:
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

  Findings& findings_;
  std::vector<std::string> doubles_{};
};

void ParameterCheck::range(const json& spec, const std::string& path) {
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

void ParameterCheck::discrete(const json& spec, const std::string& path) {
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

void ParameterCheck::categories(const json& spec, const std::string& path) {
  std::set<std::string> seen;
  for (const auto& value : spec.value("values", json::array())) {
    const auto text = value.get<std::string>();
    if (!seen.insert(text).second) {
      findings_.error(
          path, fmt::format("value `{}` of {} stands twice", printable(text), shown_path(path)));
    }
  }
}

void ParameterCheck::scale(const json& parameter, std::string_view kind, const std::string& path) {
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

void ParameterCheck::values(const json& parameter, std::string_view kind, const std::string& path) {
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

void ParameterCheck::parameter(const json& parameter, const std::string& path) {
  const auto id = text_of(parameter, "parameterId");
  check_identifier(id, path + ".parameterId", "parameter", findings_);
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
void ParameterCheck::condition(const json& parent,
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

void ParameterCheck::conditional(const json& parent, const json& child, const std::string& path) {
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

}  // namespace

void check_identifier(const std::string& id,
                      const std::string& path,
                      std::string_view what,
                      Findings& findings) {
  if (id.empty() && !findings.was_given(path)) {
    findings.error(path, fmt::format("{} is missing", shown_path(path)));
  } else if (id.find_first_of(" \t\r\n\v\f") != std::string::npos) {
    findings.error(
        path, fmt::format("`{}` is no name for a {}: it holds white space", printable(id), what));
  }
}

std::vector<std::string> check_parameter(const json& parameter,
                                         const std::string& path,
                                         Findings& findings) {
  ParameterCheck check{findings};
  check.parameter(parameter, path);
  return check.doubles();
}

}  // namespace autopack::job
