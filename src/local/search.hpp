#pragma once

#include "local/parameter_values.hpp"

#include <cstddef>
#include <random>
#include <vector>

namespace autopack::local {

/// Returns all combinations of values, at most `most`; conditional parameters only if they apply.
std::vector<TrialValues> grid(const std::vector<job::Parameter>& parameters, std::size_t most);

/// Draws a combination at random, each parameter along its scale.
TrialValues draw(const std::vector<job::Parameter>& parameters, std::mt19937_64& random);

}  // namespace autopack::local
