#pragma once

#include "engine/api.hpp"

namespace autopack::engine {

/// Implements Docker::held on `api`.
std::optional<image::Source> held_image(Api& api, const std::string& name);

/// Converts the response to `GET /images/NAME/history` to an image's history as in its
/// configuration: oldest first, with as many layer steps as there are `layers`, if the response has
/// that many.
nlohmann::json history_of(const nlohmann::json& steps, std::size_t layers);

}  // namespace autopack::engine
