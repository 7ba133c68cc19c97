#pragma once

#include "engine/api.hpp"

namespace autopack::engine {

/// Implements Docker::build on `api`.
BuildResult build_image(Api& api, const BuildRequest& request);

}  // namespace autopack::engine
