#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace autopack::job {

namespace {

constexpr std::size_t most_discrete_values = 1000;
constexpr double least_distance = 1e-10;  // between discrete values

constexpr auto* real_key = "doubleValueSpec";
constexpr auto* whole_key = "integerValueSpec";
constexpr auto* discrete_key = "discreteValueSpec";
constexpr auto* categories_key = "categoricalValueSpec";
constexpr std::array value_keys{real_key, whole_key, discrete_key, categories_key};

/// Returns the keys of the parameter's kinds of values.
std::vector<const char*> kinds_of(const Parameter& parameter) {
  const std::array<bool, value_keys.size()> given{
      parameter.real.has_value(), parameter.whole.has_value(), parameter.discrete.has_value(),
      parameter.categories.has_value()};
  std::vector<const char*> kinds;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) {
      kinds.push_back(value_keys[i]);
    }
  }
  return kinds;
}

template <class Value>
bool holds(const std::vector<Value>& values, const Value& value) {
  return contains(values, value);
}

class ParameterCheck {
public:
  explicit ParameterCheck(Review& review) : review_{review} {}

  void parameter(const Parameter& parameter, const std::string& path);

  const std::vector<std::string>& doubles() const { return doubles_; }

private:
  void values(const Parameter& parameter, const std::string& path);
  template <class Range>
  Real range(const Range& range, const std::string& path);
  Real discrete(const DiscreteValues& discrete, const std::string& path);
  void categories(const Categories& categories, const std::string& path);
  template <class Values>
  void has_values(const Values& values, const std::string& path);
  template <class Value>
  void otherwise(const std::optional<Value>& value, const std::string& path);
  void scale(const Parameter& parameter, Real least, const std::string& path);
  void conditional(const Parameter& parent,
                   const ConditionalParameter& child,
                   const std::string& path);
  template <class Value, class Possible>
  void condition(const Parameter& parent,
                 const std::optional<ParentValues<Value>>& wanted,
                 bool fits,
                 const std::string& path,
                 Possible&& is_possible);

  Review& review_;
  std::vector<std::string> doubles_{};
};

/// Returns the least value, if known.
template <class Range>
Real ParameterCheck::range(const Range& range, const std::string& path) {
  otherwise(range.otherwise, path);
  if (range.least && range.most && *range.least > *range.most) {
    review_.error(path, fmt::format("the range of {} ends before it begins: {} to {}",
                                    shown_path(path), *range.least, *range.most));
  }
  return range.least ? Real{static_cast<double>(*range.least)} : std::nullopt;
}

template <class Values>
void ParameterCheck::has_values(const Values& values, const std::string& path) {
  if (values && values->empty()) {
    review_.error(path, fmt::format("{} has no values", shown_path(path)));
  }
}

template <class Value>
void ParameterCheck::otherwise(const std::optional<Value>& value, const std::string& path) {
  if (value) {
    review_.warning(path + ".defaultValue",
                    fmt::format("{} is not used by tuning jobs, only by Vizier",
                                shown_path(path + ".defaultValue")));
  }
}

/// Returns the first value, if any.
Real ParameterCheck::discrete(const DiscreteValues& discrete, const std::string& path) {
  has_values(discrete.values, path);
  otherwise(discrete.otherwise, path);
  const auto values = discrete.values.value_or(std::vector<double>{});
  if (values.size() > most_discrete_values) {
    review_.error(path, fmt::format("{} has {} values; the service accepts {}", shown_path(path),
                                    values.size(), most_discrete_values));
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] < least_distance) {
      review_.error(path, fmt::format("the values of {} must increase, by 1e-10 at least: {} "
                                      "follows {}",
                                      shown_path(path), values[i], values[i - 1]));
      break;
    }
  }
  return values.empty() ? std::nullopt : Real{values.front()};
}

void ParameterCheck::categories(const Categories& categories, const std::string& path) {
  has_values(categories.values, path);
  otherwise(categories.otherwise, path);
  std::set<std::string> seen;
  for (const auto& text : categories.values.value_or(std::vector<std::string>{})) {
    if (!seen.insert(text).second) {
      review_.error(
          path, fmt::format("value `{}` of {} is given twice", printable(text), shown_path(path)));
    }
  }
}

/// `least` is the least value, if known.
void ParameterCheck::scale(const Parameter& parameter, Real least, const std::string& path) {
  const auto scale = parameter.scale.value_or("");
  if (scale.empty() || scale == "SCALE_TYPE_UNSPECIFIED") {
    return;
  }
  if (parameter.categories) {
    review_.error(path + ".scaleType",
                  fmt::format("{} has categories, which have no scale", shown_path(path)));
    return;
  }
  if (scale != "UNIT_LINEAR_SCALE" && least && *least <= 0) {
    review_.error(path + ".scaleType",
                  fmt::format("{} begins at {}, but a log scale needs values above 0",
                              shown_path(path), *least));
  }
}

/// The parameter must have exactly one kind of values.
void ParameterCheck::values(const Parameter& parameter, const std::string& path) {
  const auto at = fmt::format("{}.{}", path, kinds_of(parameter).front());
  Real least;
  if (parameter.real) {
    least = range(*parameter.real, at);
    doubles_.push_back(parameter.id.value_or(""));
  } else if (parameter.whole) {
    least = range(*parameter.whole, at);
  } else if (parameter.discrete) {
    least = discrete(*parameter.discrete, at);
  } else {
    categories(*parameter.categories, at);
  }
  scale(parameter, least, path);
}

void ParameterCheck::parameter(const Parameter& parameter, const std::string& path) {
  check_identifier(parameter.id, path + ".parameterId", "parameter", review_);
  const auto kinds = kinds_of(parameter);
  const bool was_given = std::ranges::any_of(value_keys, [&](const char* key) {
    return review_.was_given(fmt::format("{}.{}", path, key));
  });
  if (kinds.size() == 1) {
    values(parameter, path);
  } else if (kinds.empty() && !was_given) {
    review_.error(path,
                  fmt::format("parameter `{}` has no values: expected {}",
                              printable(parameter.id.value_or("")), fmt::join(value_keys, ", ")));
  }
  for (std::size_t i = 0; i < parameter.children.size(); ++i) {
    conditional(parameter, parameter.children[i],
                fmt::format("{}.conditionalParameterSpecs[{}]", path, i));
  }
}

/// Checks that the parent can have every value of a condition; `fits` if both are of one kind.
template <class Value, class Possible>
void ParameterCheck::condition(const Parameter& parent,
                               const std::optional<ParentValues<Value>>& wanted,
                               bool fits,
                               const std::string& path,
                               Possible&& is_possible) {
  if (!wanted) {
    return;
  }
  const auto id = parent.id.value_or("");
  const auto kinds = kinds_of(parent);
  if (kinds.size() == 1 && !fits) {
    review_.error(path, fmt::format("{} does not fit parent `{}`, which has `{}`", shown_path(path),
                                    id, kinds.front()));
  }
  for (const auto& value : wanted->values) {
    if (kinds.size() == 1 && fits && !is_possible(value)) {
      review_.error(path, fmt::format("{}: parent `{}` never has the value `{}`", shown_path(path),
                                      id, printable(fmt::format("{}", value))));
    }
  }
  if (wanted->values.empty() && !review_.was_given(path + ".values[0]")) {
    review_.error(path, fmt::format("{} names no value", shown_path(path)));
  }
}

void ParameterCheck::conditional(const Parameter& parent,
                                 const ConditionalParameter& child,
                                 const std::string& path) {
  condition(parent, child.parent_categories, parent.categories.has_value(),
            path + ".parentCategoricalValues", [&](const std::string& value) {
              return holds(parent.categories->values.value_or(std::vector<std::string>{}), value);
            });
  condition(parent, child.parent_numbers, parent.whole.has_value(), path + ".parentIntValues",
            [&](std::int64_t value) {
              const auto& range = *parent.whole;
              return !range.least || !range.most || (value >= *range.least && value <= *range.most);
            });
  condition(parent, child.parent_discrete, parent.discrete.has_value(),
            path + ".parentDiscreteValues", [&](double value) {
              return holds(parent.discrete->values.value_or(std::vector<double>{}), value);
            });
  if (!child.parent_categories && !child.parent_numbers && !child.parent_discrete) {
    review_.error(path,
                  fmt::format("{} names no values of its parent `{}`", shown_path(path),
                              parent.id.value_or("")),
                  {"parentCategoricalValues, parentIntValues or parentDiscreteValues, by the "
                   "parent's kind"});
  }
  if (child.parameter) {
    parameter(*child.parameter, path + ".parameterSpec");
  }
}

}  // namespace

void check_identifier(const Text& id,
                      const std::string& path,
                      std::string_view what,
                      Review& review) {
  const auto name = id.value_or("");
  if (name.empty() && !review.was_given(path)) {
    review.error(path, fmt::format("{} is missing", shown_path(path)));
  } else if (name.find_first_of(" \t\r\n\v\f") != std::string::npos) {
    review.error(path, fmt::format("`{}` is not a valid name for a {}: it contains white space",
                                   printable(name), what));
  }
}

std::vector<std::string> check_parameter(const Parameter& parameter,
                                         const std::string& path,
                                         Review& review) {
  ParameterCheck check{review};
  check.parameter(parameter, path);
  return check.doubles();
}

}  // namespace autopack::job
