#pragma once

#include "project/findings.hpp"
#include "project/requirement_files.hpp"

#include <string>
#include <string_view>

namespace autopack::project {

/// True when the text of a pyproject.toml says what the package needs, or that its build will.
bool declares_dependencies(const std::string& pyproject);

/// Where a file stands that is not read.
enum class UnreadBeside {
  nothing,  ///< nothing says what is installed
  package,  ///< the project's own package does
};

/// Warns of the first file at the root that says what the program needs and is not read, with the
/// way to have it installed. Says nothing where the request names requirements itself.
void report_unread_files(Findings& findings, const Request& request, UnreadBeside beside);

/// For a project without requirement files: what pip can install of conda's environment file, each
/// with the place it stands at, and what conda would. Unless the request names requirements itself,
/// what is there besides (`Pipfile`, lock files) is told with the command that makes requirements
/// of it.
RequirementSources other_dependencies(Findings& findings, const Request& request);

}  // namespace autopack::project
