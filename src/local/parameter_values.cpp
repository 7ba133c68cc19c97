#include "local/parameter_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace autopack::local {

namespace {

double number_of(const ParameterValue& value) {
  return std::strtod(value.text.c_str(), nullptr);
}

/// The minimum and maximum of a parameter, and its scale.
struct Range {
  double least{0};
  double most{0};
  std::string scale{};

  bool is_logarithmic() const {
    return least > 0 && (scale == "UNIT_LOG_SCALE" || scale == "UNIT_REVERSE_LOG_SCALE");
  }

  double number_at(double place) const {
    if (!(least < most)) {
      return least;
    }
    const auto between = [&](double from, double to) { return from * (1 - place) + to * place; };
    double number = between(least, most);
    if (is_logarithmic() && scale == "UNIT_LOG_SCALE") {
      number = std::exp(between(std::log(least), std::log(most)));
    } else if (is_logarithmic()) {
      number = least + most - std::exp(between(std::log(most), std::log(least)));
    }
    return std::clamp(number, least, most);
  }

  double place_of(double number) const {
    if (!(least < most)) {
      return 0;
    }
    double place = (number - least) / (most - least);
    if (is_logarithmic() && scale == "UNIT_LOG_SCALE") {
      place = std::log(number / least) / std::log(most / least);
    } else if (is_logarithmic()) {
      place = 1 - std::log((least + most - number) / least) / std::log(most / least);
    }
    return std::isfinite(place) ? std::clamp(place, 0.0, 1.0) : 0;
  }
};

bool has_values(const job::Parameter& parameter) {
  return (parameter.discrete && parameter.discrete->values &&
          !parameter.discrete->values->empty()) ||
         (parameter.categories && parameter.categories->values &&
          !parameter.categories->values->empty());
}

/// Counts listed values of a discrete or categorical parameter.
std::size_t count_of(const job::Parameter& parameter) {
  return parameter.discrete ? parameter.discrete->values->size()
                            : parameter.categories->values->size();
}

ParameterValue listed(const job::Parameter& parameter, std::size_t at) {
  const auto id = parameter.id.value_or("");
  return parameter.discrete
             ? ParameterValue{.id = id, .text = number_text(parameter.discrete->values->at(at))}
             : ParameterValue{
                   .id = id, .text = parameter.categories->values->at(at), .is_number = false};
}

Range range_of(const job::Parameter& parameter) {
  Range range{.scale = parameter.scale.value_or("")};
  if (parameter.real) {
    range.least = parameter.real->least.value_or(0);
    range.most = parameter.real->most.value_or(0);
  } else if (parameter.whole) {
    range.least = static_cast<double>(parameter.whole->least.value_or(0));
    range.most = static_cast<double>(parameter.whole->most.value_or(0));
  } else if (parameter.discrete && has_values(parameter)) {
    const auto& values = *parameter.discrete->values;
    range.least = *std::ranges::min_element(values);
    range.most = *std::ranges::max_element(values);
  }
  return range;
}

/// For a parameter without listed values.
ParameterValue value_at(const job::Parameter& parameter, double place) {
  ParameterValue value{.id = parameter.id.value_or("")};
  const auto range = range_of(parameter);
  if (parameter.real) {
    value.text = number_text(range.number_at(place));
  } else if (parameter.whole) {
    const auto least = parameter.whole->least.value_or(0);
    const auto most = std::max(least, parameter.whole->most.value_or(0));
    constexpr double largest = 9.2e18;  // the largest 64-bit value in a double
    const auto number = std::llround(std::clamp(range.number_at(place), -largest, largest));
    value.text = std::to_string(std::clamp<std::int64_t>(number, least, most));
  }
  return value;
}

}  // namespace

std::string number_text(double number) {
  return fmt::format("{}", number);
}

bool is_searched(const job::ConditionalParameter& child, const ParameterValue& parent) {
  const auto is_one = [&](const auto& condition, const auto& to_text) {
    return condition && std::ranges::any_of(condition->values, [&](const auto& value) {
             return to_text(value) == parent.text;
           });
  };
  return child.parameter != nullptr &&
         (is_one(child.parent_categories, [](const std::string& value) { return value; }) ||
          is_one(child.parent_numbers, [](std::int64_t value) { return std::to_string(value); }) ||
          is_one(child.parent_discrete, number_text));
}

std::vector<job::Parameter> children(const job::Parameter& parameter, const ParameterValue& value) {
  std::vector<job::Parameter> found;
  for (const auto& child : parameter.children) {
    if (is_searched(child, value)) {
      found.push_back(*child.parameter);
    }
  }
  return found;
}

ParameterValue draw_value(const job::Parameter& parameter, std::mt19937_64& random) {
  if (has_values(parameter)) {
    return listed(parameter,
                  std::uniform_int_distribution<std::size_t>{0, count_of(parameter) - 1}(random));
  }
  if (parameter.whole && !range_of(parameter).is_logarithmic()) {
    const auto least = parameter.whole->least.value_or(0);
    const auto most = std::max(least, parameter.whole->most.value_or(0));
    return {
        .id = parameter.id.value_or(""),
        .text = std::to_string(std::uniform_int_distribution<std::int64_t>{least, most}(random))};
  }
  return value_at(parameter, std::uniform_real_distribution<double>{0, 1}(random));
}

double place_of(const job::Parameter& parameter, const ParameterValue& value) {
  return range_of(parameter).place_of(number_of(value));
}

ParameterValue move_value(const job::Parameter& parameter,
                          const ParameterValue& value,
                          double reach,
                          std::mt19937_64& random) {
  if (parameter.categories) {
    constexpr double seldom = 0.2;
    return std::bernoulli_distribution{seldom}(random) ? draw_value(parameter, random) : value;
  }
  std::normal_distribution<double> step;
  if (parameter.discrete && has_values(parameter)) {
    const auto& values = *parameter.discrete->values;
    const auto most = static_cast<double>(values.size() - 1);
    const auto found = std::ranges::find(values, number_of(value));
    const auto at = static_cast<double>(found - values.begin());
    // Small steps must reach the next value.
    const auto moved = at + step(random) * std::max(reach * most, 1.0);
    return listed(parameter, static_cast<std::size_t>(std::lround(std::clamp(moved, 0.0, most))));
  }
  const auto range = range_of(parameter);
  const double least_reach = parameter.whole ? 1 / std::max(range.most - range.least, 1.0) : 0;
  const double place =
      range.place_of(number_of(value)) + step(random) * std::max(reach, least_reach);
  return value_at(parameter, std::clamp(place, 0.0, 1.0));
}

}  // namespace autopack::local
