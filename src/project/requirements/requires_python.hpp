#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>

namespace autopack::project {

/// Returns the Python condition of pyproject.toml, setup.cfg or setup.py; the first one applies, as
/// in an installation of the project.
std::optional<RequiresPython> read_requires_python(const Findings& findings);

}  // namespace autopack::project
