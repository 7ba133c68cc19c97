#pragma once

#include "project/looking_tree.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// The version that hatchling or pdm-backend reads from a file of the project, as `document` tells
/// it to, by the pattern that it uses by itself; nothing where only the build can tell.
std::optional<std::string> version_in_file(const toml::table& document, LookingTree& tree);

}  // namespace autopack::project
