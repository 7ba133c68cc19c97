#pragma once

#include "project/package/looking_tree.hpp"
#include "project/package/static_installation.hpp"
#include "project/project.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// Sets where `installation` lets Python find the modules of `package`, as its build backend
/// decides from `document`, its pyproject.toml. Returns why only the backend itself can decide, or
/// nothing on success.
std::optional<std::string> read_module_layout(const toml::table& document,
                                              const Package& package,
                                              LookingTree& tree,
                                              StaticInstallation& installation);

/// The same for setuptools.
std::optional<std::string> read_setuptools_layout(const toml::table& document,
                                                  LookingTree& tree,
                                                  StaticInstallation& installation);

}  // namespace autopack::project
