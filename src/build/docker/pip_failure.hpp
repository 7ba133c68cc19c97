#pragma once

#include "plan/plan.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::build {

/// Returns pip's failure in `log`, with the requirement and, if there is a `plan`, its place in the
/// project; nothing if the log does not contain one.
std::optional<std::string> pip_complaint(std::string_view log, const plan::ReadablePlan* plan);

/// Returns the project's option that may hide the missing requirement from pip; nothing if there is
/// none, or pip missed nothing.
std::optional<std::string> pip_hint(std::string_view log, const plan::ReadablePlan* plan);

/// Returns the last line of a build backend's output, which pip quotes in `log`: `ValueError:
/// Unknown classifier`; nothing if the log quotes none.
std::optional<std::string> backend_complaint(std::string_view log);

}  // namespace autopack::build
