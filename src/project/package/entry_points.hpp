#pragma once

#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// Returns the text of entry_points.txt for `[project]` in `project`; nothing if there are no entry
/// points. Throws as described in project_fields.hpp.
std::optional<std::string> entry_points_text(const toml::table& project);

}  // namespace autopack::project
