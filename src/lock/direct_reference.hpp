#pragma once

#include "lock/locked_set.hpp"
#include "project/requirement.hpp"

#include <optional>
#include <string>

namespace autopack::lock {

/// Makes `package` what `listed`, a requirement by a URL or a path, names: its name and version as
/// far as they are told, its file, or what it is built from. What is wrong with it, in words; none
/// when nothing is.
std::optional<std::string> set_direct(LockedPackage& package,
                                      const project::ListedRequirement& listed);

/// The same of a path of the tree that is not a requirement of a file.
LockedPackage package_at(const std::string& path, const std::string& place);

}  // namespace autopack::lock
