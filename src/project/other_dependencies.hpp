#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// True when the text of a pyproject.toml says what the package needs, or that its build will.
bool declares_dependencies(const std::string& pyproject);

/// For a project without requirement files: what pip can install of conda's environment file, each
/// with the place it stands at. What is there besides (packages of conda, `Pipfile`, lock files) is
/// told with the command that makes requirements of it, unless the request names some itself.
std::vector<std::pair<std::string, std::string>> other_dependencies(Findings& findings,
                                                                    const Request& request);

}  // namespace autopack::project
