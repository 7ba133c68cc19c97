#pragma once

#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"

#include <optional>
#include <string>

namespace autopack::build {

/// Copies a file of the project to the cache of wheels. Throws Error(project) if it does not exist,
/// or none of its hashes matches.
index::CachedFile cache_local_file(const packaging::Packaging& work,
                                   const index::WheelCache& wheels,
                                   const lock::LockedFile& file);

/// Returns a hash of the files of a directory that the plan of `work` installs; nothing if the plan
/// contains none of them.
std::optional<std::string> directory_identity(const packaging::Packaging& work,
                                              const std::string& directory);

}  // namespace autopack::build
