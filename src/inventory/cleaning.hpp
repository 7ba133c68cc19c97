#pragma once

#include "inventory/cache_parts.hpp"
#include "inventory/held_images.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::inventory {

/// Something that autopack left and that can be taken away.
struct Leftover {
  enum class Kind { image, container, cache };

  Kind kind{Kind::cache};
  std::string name{};
  std::uint64_t size{0};  ///< of an image with all its layers, also those that others share
  std::optional<CachePart> part{};
};

/// What is to be taken away.
struct CleaningScope {
  std::vector<std::string> repositories{};           ///< none: of all projects
  std::optional<std::filesystem::path> directory{};  ///< the project's; none: of all
  bool looks_into_engine{true};
  std::vector<std::string> kept_keys{};  ///< of images that stay; their first 16 digits
};

/// What autopack left, by its own names and labels: no image under a person's name is among it, no
/// running container, and no cache of another project when the scope names one.
std::vector<Leftover> find_leftovers(Services& services, const CleaningScope& scope);

/// Takes one away. Throws what the engine refuses: an image that a container uses stays.
void remove(Services& services, const Leftover& leftover);

}  // namespace autopack::inventory
