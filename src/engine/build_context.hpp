#pragma once

#include "engine/docker.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// Where the Dockerfile stands in the context: `request`'s own when the context holds it unchanged,
/// else a fixed name of autopack's.
std::string dockerfile_path(const BuildRequest& request);

/// Writes the context of `request` as a tar: every file that its plan copies, its extra files, the
/// Dockerfile. The same request gives the same bytes.
void write_context(const BuildRequest& request, const std::function<void(std::string_view)>& out);

}  // namespace autopack::engine
