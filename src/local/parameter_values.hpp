#pragma once

#include "job/study.hpp"

#include <random>
#include <string>
#include <vector>

namespace autopack::local {

/// The value of a parameter in one trial, as the program gets it.
struct ParameterValue {
  std::string id{};
  std::string text{};
  bool is_number{true};

  bool operator==(const ParameterValue&) const = default;
};

using TrialValues = std::vector<ParameterValue>;

/// A number as a program gets it: the shortest text that means it.
std::string number_text(double number);

/// True when `child` is searched where its parent has that value.
bool is_searched(const job::ConditionalParameter& child, const ParameterValue& parent);

/// The parameters under those conditions of `parameter` that `value` meets.
std::vector<job::Parameter> children(const job::Parameter& parameter, const ParameterValue& value);

/// Drawn at random, a number along the parameter's scale.
ParameterValue draw_value(const job::Parameter& parameter, std::mt19937_64& random);

/// Where a number lies between the least and the most of its parameter, along the scale: 0 to 1.
double place_of(const job::Parameter& parameter, const ParameterValue& value);

/// A value near another one: `reach` is the deviation of a number's place, and a category may
/// become any other.
ParameterValue move_value(const job::Parameter& parameter,
                          const ParameterValue& value,
                          double reach,
                          std::mt19937_64& random);

}  // namespace autopack::local
