#pragma once

#include "project/project.hpp"
#include "project/toml.hpp"

#include <string>

namespace autopack::project {

/// Returns true if `source`, an entry of `[tool.uv.sources]`, applies to the extras and groups of
/// `request`.
bool is_source_active(const toml::table& source, const Request& request);

/// Returns the indexes and versions in `[tool.uv]` of `document`, a pyproject.toml.
/// Leaves out indexes that are not on a web server, or whose URL contains a login, and pip's
/// default index, of which a machine may have a mirror.
UvSettings uv_settings(const toml::table& document, const Request& request);

/// Returns true for pip's default index: its host has two labels, and this is the first.
bool is_usual_index(const std::string& url);

}  // namespace autopack::project
