#pragma once

#include "engine/docker.hpp"

#include <string>
#include <string_view>

namespace autopack::engine {

/// What a person calls the step that an engine names `step`: `install requirements.txt (2
/// packages)`, for a build that autopack generated. The engine's own name where the step says
/// what it does: in a Dockerfile of a person's own, too.
std::string step_for_people(const BuildRequest& request, std::string_view step);

}  // namespace autopack::engine
