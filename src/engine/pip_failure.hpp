#pragma once

#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// What pip could not do as its `log` tells it, with the requirement and, where there is a `plan`,
/// the place in the project that asks for it; none when the log does not tell.
std::optional<std::string> pip_complaint(std::string_view log, const plan::ReadablePlan* plan);

/// The option of the project that may hide from pip what it found no version of; none when there is
/// none, or pip missed nothing.
std::optional<std::string> pip_hint(std::string_view log, const plan::ReadablePlan* plan);

/// The last line of what a build backend wrote, which pip quotes, as it stands in `log`:
/// `ValueError: Unknown classifier`; none when the log quotes none.
std::optional<std::string> backend_complaint(std::string_view log);

}  // namespace autopack::engine
