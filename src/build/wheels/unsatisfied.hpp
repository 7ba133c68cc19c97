#pragma once

#include "base/error.hpp"
#include "project/project.hpp"

#include <string>
#include <vector>

namespace autopack::build {

/// Returns where `project` requires the package `name`, for messages: `requirements.txt:3`, or
/// `requirements`.
std::string place_of_requirement(const project::Project& project, const std::string& name);

/// Returns `error`, uv's explanation why the requirements of `project` have no solution, in terms
/// of the user's files: the places of the requirements that it names, and the remedy for a name or
/// a version that no index has. `others` are further requirements, of the project's own package.
/// Returns other errors unchanged.
Error with_places(Error error,
                  const project::Project& project,
                  const std::vector<std::string>& others);

/// Returns the remedy for the name of a requirement that no package has, or that cannot be
/// installed: the module's package, or the name that may be meant. Empty if there is none.
std::vector<std::string> remedies_for_name(const std::string& name);

}  // namespace autopack::build
