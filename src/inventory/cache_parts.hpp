#pragma once

#include "base/environment.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace autopack::inventory {

/// Files of the cache that belong together.
struct CachePart {
  std::string name{};  ///< for people: `wheels`
  std::vector<std::filesystem::path> paths{};
  std::uint64_t size{0};
  std::size_t files{0};
};

/// Returns the cached files that belong only to the project in `directory`, if there are any.
std::vector<CachePart> parts_of_project(const Environment& environment,
                                        const std::filesystem::path& directory);

/// Returns everything in the cache that can be recreated. Excludes the records of submissions whose
/// result is unknown.
std::vector<CachePart> all_parts(const Environment& environment);

/// Removes the files of `part`; ignores concurrent changes by other runs.
void remove(const CachePart& part);

}  // namespace autopack::inventory
