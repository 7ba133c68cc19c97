#pragma once

#include "engine/api.hpp"

#include <string>
#include <vector>

namespace autopack::engine {

/// Implements Docker::list_images on `api`.
std::vector<ListedImage> list_images(Api& api, const std::string& label);

}  // namespace autopack::engine
