#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns `3.11` for `3.11.4` or pyenv's `3.11-dev`; nothing for other text.
std::optional<std::string> minor_python(std::string_view text);

/// Returns the Python versions in `.python-version`, `runtime.txt` and conda's environment file,
/// one entry for each file; a release counts as its whole minor version.
std::vector<RequiresPython> read_named_pythons(const Findings& findings);

/// Returns the Python condition of pyproject.toml, setup.cfg or setup.py; the first one applies, as
/// in an installation of the project.
std::optional<RequiresPython> read_requires_python(const Findings& findings);

}  // namespace autopack::project
