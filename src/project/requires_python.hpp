#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>

namespace autopack::project {

/// What pyproject.toml, setup.cfg or setup.py say of Python's version; the first of them that says
/// something counts, as for those who install the project.
std::optional<RequiresPython> read_requires_python(const Findings& findings);

}  // namespace autopack::project
