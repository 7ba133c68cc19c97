#pragma once

#include "project/looking_tree.hpp"
#include "project/static_installation.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// Sets names, versions and texts of `installation` as `[project]` of `document` says them (PEP 621
/// and what followed it). What it cannot say for the build, in words; none when it said all.
std::optional<std::string> read_core_metadata(const toml::table& document,
                                              LookingTree& tree,
                                              StaticInstallation& installation);

}  // namespace autopack::project
