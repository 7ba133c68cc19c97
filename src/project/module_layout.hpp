#pragma once

#include "project/looking_tree.hpp"
#include "project/project.hpp"
#include "project/static_installation.hpp"
#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// Sets where `installation` has Python find the modules of `package`, as its build backend decides
/// it by `document`, its pyproject.toml. Why only the backend itself can tell, in words; none when
/// it is told.
std::optional<std::string> read_module_layout(const toml::table& document,
                                              const Package& package,
                                              LookingTree& tree,
                                              StaticInstallation& installation);

/// The same of setuptools.
std::optional<std::string> read_setuptools_layout(const toml::table& document,
                                                  LookingTree& tree,
                                                  StaticInstallation& installation);

}  // namespace autopack::project
