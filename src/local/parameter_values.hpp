#pragma once

#include "job/study.hpp"

#include <random>
#include <string>
#include <vector>

namespace autopack::local {

/// The value of a parameter in one trial, as passed to the program.
struct ParameterValue {
  std::string id{};
  std::string text{};
  bool is_number{true};

  bool operator==(const ParameterValue&) const = default;
};

using TrialValues = std::vector<ParameterValue>;

/// Returns the shortest text that means the number, for the program.
std::string number_text(double number);

/// Returns true if `child` is searched with this value of its parent.
bool is_searched(const job::ConditionalParameter& child, const ParameterValue& parent);

/// Returns the conditional parameters of `parameter` that apply to `value`.
std::vector<job::Parameter> children(const job::Parameter& parameter, const ParameterValue& value);

/// Draws a value at random, numbers along the parameter's scale.
ParameterValue draw_value(const job::Parameter& parameter, std::mt19937_64& random);

/// Returns the position of a number between the minimum and maximum of its parameter, along the
/// scale: 0 to 1.
double place_of(const job::Parameter& parameter, const ParameterValue& value);

/// Returns a value near another one: `reach` is the deviation of a number's position; a category
/// may become any other.
ParameterValue move_value(const job::Parameter& parameter,
                          const ParameterValue& value,
                          double reach,
                          std::mt19937_64& random);

}  // namespace autopack::local
