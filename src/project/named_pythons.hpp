#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// `3.11` of `3.11.4` or of pyenv's `3.11-dev`; none for another text.
std::optional<std::string> minor_python(std::string_view text);

/// The versions of Python that `.python-version`, `runtime.txt` and conda's environment file name,
/// one entry for each file; a release counts for all of its minor version.
std::vector<RequiresPython> read_named_pythons(const Findings& findings);

}  // namespace autopack::project
