#pragma once

#include "base/environment.hpp"
#include "inventory/held_images.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
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

/// Something that autopack left and that can be removed.
struct Leftover {
  enum class Kind { image, container, cache };

  Kind kind{Kind::cache};
  std::string name{};
  std::uint64_t size{0};  ///< of an image with all its layers, including shared ones
  std::optional<CachePart> part{};
};

/// What to remove.
struct CleaningScope {
  std::vector<std::string> repositories{};           ///< empty: of all projects
  std::optional<std::filesystem::path> directory{};  ///< the project's; absent: of all
  bool looks_into_engine{true};
  std::vector<std::string> kept_keys{};  ///< of images to keep; their first 16 digits
};

/// Finds what autopack left, by its own names and labels. Excludes images under a user's own name,
/// running containers, and, if the scope names a project, caches of others.
std::vector<Leftover> find_leftovers(Services& services, const CleaningScope& scope);

/// Removes one. Throws the engine's error: an image that a container uses stays.
void remove(Services& services, const Leftover& leftover);

}  // namespace autopack::inventory
