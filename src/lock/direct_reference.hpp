#pragma once

#include "lock/locked_set.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>

namespace autopack::lock {

/// Sets name, version and file or source of `package` from `listed`, a requirement by a URL or a
/// path, as far as it states them. Returns the error, or nothing if there is none.
std::optional<std::string> set_direct(LockedPackage& package,
                                      const project::ListedRequirement& listed);

/// The same for a path in the tree that does not come from a requirement of a file.
LockedPackage package_at(const std::string& path, const std::string& place);

}  // namespace autopack::lock
