#pragma once

#include "project/package/looking_tree.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// Returns the version that hatchling or pdm-backend reads from a file of the project, as
/// `document` configures it, with its default pattern; nothing if only the build can determine it.
std::optional<std::string> version_in_file(const toml::table& document, LookingTree& tree);

}  // namespace autopack::project
