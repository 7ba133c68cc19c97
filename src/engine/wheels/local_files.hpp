#pragma once

#include "index/wheel_cache.hpp"
#include "lock/locked_set.hpp"
#include "packaging/packaging.hpp"

#include <optional>
#include <string>

namespace autopack::engine {

/// A file of the project in the cache of wheels. Throws Error(project) when it is not there, or
/// none of its hashes fits.
index::CachedFile cache_local_file(const packaging::Packaging& work,
                                   const index::WheelCache& wheels,
                                   const lock::LockedFile& file);

/// What tells the files of a directory that the plan of `work` installs from any others; none when
/// the plan holds none of it.
std::optional<std::string> directory_identity(const packaging::Packaging& work,
                                              const std::string& directory);

}  // namespace autopack::engine
