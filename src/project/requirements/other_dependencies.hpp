#pragma once

#include "project/findings.hpp"
#include "project/requirements/requirement_files.hpp"

#include <string>
#include <string_view>

namespace autopack::project {

/// Returns true if the text of a pyproject.toml lists the package's dependencies, or leaves them to
/// its build.
bool declares_dependencies(const std::string& pyproject);

/// What determines the installation beside an unused file.
enum class UnreadBeside {
  nothing,  ///< nothing
  package,  ///< the project's own package
};

/// Warns about the first unused file of dependencies at the root, with the way to install it. Does
/// nothing if the request names requirements itself.
void report_unread_files(Findings& findings, const Request& request, UnreadBeside beside);

/// For a project without requirement files: returns the requirements in conda's environment file
/// that pip can install, with their places, and those for conda. Unless the request names
/// requirements itself, reports other files (`Pipfile`, lock files) with the command that converts
/// them to requirements.
RequirementSources other_dependencies(Findings& findings, const Request& request);

}  // namespace autopack::project
