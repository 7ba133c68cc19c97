#pragma once

#include "engine/docker.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// Returns the path of the Dockerfile in the context: `request`'s own if the context contains it
/// unchanged, else a fixed name of autopack.
std::string dockerfile_path(const BuildRequest& request);

/// Writes the context of `request` as a tar: every file that its plan copies, its extra files, and
/// the Dockerfile. The same request gives the same bytes.
void write_context(const BuildRequest& request, const std::function<void(std::string_view)>& out);

}  // namespace autopack::engine
