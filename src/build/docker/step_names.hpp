#pragma once

#include "build/docker/build_context.hpp"

#include <string>
#include <string_view>

namespace autopack::build {

/// Returns the name for people of the engine's step `step`: `install requirements.txt (2
/// packages)`, for a build that autopack generated. Returns the engine's name for self-explanatory
/// steps and for a user's own Dockerfile.
std::string step_for_people(const ContextParts& parts, std::string_view step);

}  // namespace autopack::build
