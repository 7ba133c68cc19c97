#pragma once

#include "project/findings.hpp"
#include "project/toml.hpp"

#include <functional>
#include <map>
#include <string>

namespace autopack::project {

/// Returns `document`, a pyproject.toml whose dependencies are in `[tool.poetry]`, with the same
/// dependencies as `[project]` and `[tool.uv.sources]` describe them: the main group and the extras
/// (Poetry's documentation, "Dependency specification"). Reports entries that have no such form as
/// errors.
toml::table with_poetry_dependencies(Findings& findings, const toml::table& document);

/// Groups by name; each function returns the items of one as in `[dependency-groups]` (PEP 735).
using Groups = std::map<std::string, std::function<toml::array()>>;

/// Returns the groups of `document`, with `[tool.poetry]`; `dev-dependencies` are the group `dev`.
/// Their functions report entries that have no such form, such as a repository, as errors; the
/// arguments must outlive them.
Groups poetry_groups(Findings& findings, const toml::table& document);

}  // namespace autopack::project
