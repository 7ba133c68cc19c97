#include "local/search.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace autopack::local {

namespace {

using Each = std::function<bool(const ParameterValue& value)>;
using Done = std::function<bool()>;

/// Calls `each` with each value until it returns false; then returns false.
bool for_each_value(const job::Parameter& parameter, const Each& each) {
  const auto id = parameter.id.value_or("");
  if (parameter.whole) {
    const auto most = parameter.whole->most.value_or(0);
    for (auto value = parameter.whole->least.value_or(0); value <= most; ++value) {
      if (!each({.id = id, .text = std::to_string(value)})) {
        return false;
      }
      if (value == most) {
        break;  // it may be the largest possible number
      }
    }
  } else if (parameter.discrete && parameter.discrete->values) {
    for (const auto value : *parameter.discrete->values) {
      if (!each({.id = id, .text = number_text(value)})) {
        return false;
      }
    }
  } else if (parameter.categories && parameter.categories->values) {
    for (const auto& value : *parameter.categories->values) {
      if (!each({.id = id, .text = value, .is_number = false})) {
        return false;
      }
    }
  }
  return true;
}

/// Appends every combination of the parameters from `at` on to `values`, and calls `done` for each
/// until it returns false.
bool combine(const std::vector<job::Parameter>& parameters,
             std::size_t at,
             TrialValues& values,
             const Done& done) {
  if (at == parameters.size()) {
    return done();
  }
  return for_each_value(parameters[at], [&](const ParameterValue& value) {
    values.push_back(value);
    auto rest = children(parameters[at], value);
    rest.insert(rest.end(), parameters.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                parameters.end());
    const bool goes_on = combine(rest, 0, values, done);
    values.pop_back();
    return goes_on;
  });
}

}  // namespace

std::vector<TrialValues> grid(const std::vector<job::Parameter>& parameters, std::size_t most) {
  std::vector<TrialValues> all;
  TrialValues values;
  if (most > 0) {
    combine(parameters, 0, values, [&] {
      all.push_back(values);
      return all.size() < most;
    });
  }
  return all;
}

TrialValues draw(const std::vector<job::Parameter>& parameters, std::mt19937_64& random) {
  TrialValues values;
  for (const auto& parameter : parameters) {
    values.push_back(draw_value(parameter, random));
    const auto below = draw(children(parameter, values.back()), random);
    values.insert(values.end(), below.begin(), below.end());
  }
  return values;
}

}  // namespace autopack::local
