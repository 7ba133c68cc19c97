#pragma once

#include "project/toml.hpp"

#include <optional>
#include <string>

namespace autopack::project {

/// The text of entry_points.txt as `[project]` in `project` says it; none when there are no entry
/// points. Throws as project_fields.hpp says.
std::optional<std::string> entry_points_text(const toml::table& project);

}  // namespace autopack::project
