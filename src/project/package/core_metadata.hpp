#pragma once

#include "project/package/looking_tree.hpp"
#include "project/package/static_installation.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// Sets names, versions and texts of `installation` from `[project]` of `document` (PEP 621 and its
/// successors). Returns why only the build can determine them, or nothing if they are complete.
std::optional<std::string> read_core_metadata(const toml::table& document,
                                              LookingTree& tree,
                                              StaticInstallation& installation);

}  // namespace autopack::project
