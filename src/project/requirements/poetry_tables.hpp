#pragma once

#include "project/findings.hpp"
#include "project/toml.hpp"

namespace autopack::project {

/// Returns `document`, a pyproject.toml whose dependencies are in `[tool.poetry]`, with the same
/// dependencies as `[project]` and `[tool.uv.sources]` describe them: the main group and the extras
/// (Poetry's documentation, "Dependency specification"). Reports entries that have no such form as
/// errors.
toml::table with_poetry_dependencies(Findings& findings, const toml::table& document);

}  // namespace autopack::project
