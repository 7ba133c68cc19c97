#pragma once

#include "engine/api.hpp"

namespace autopack::engine {

/// What Docker::held does, on `api`.
std::optional<image::Source> held_image(Api& api, const std::string& name);

/// An image's history as its configuration holds it, from what `GET /images/NAME/history` tells:
/// oldest first, with as many steps that made a layer as there are `layers`, where it tells so
/// many.
nlohmann::json history_of(const nlohmann::json& steps, std::size_t layers);

}  // namespace autopack::engine
