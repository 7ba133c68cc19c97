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

/// What the cache keeps of the project in `directory` alone, as far as there is any.
std::vector<CachePart> parts_of_project(const Environment& environment,
                                        const std::filesystem::path& directory);

/// All that the cache keeps and that is found again when it is missed: not the jobs whose making
/// was not answered.
std::vector<CachePart> all_parts(const Environment& environment);

/// Removes the files of `part`; what another run removed or made meanwhile is no error.
void remove(const CachePart& part);

}  // namespace autopack::inventory
