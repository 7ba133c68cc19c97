#pragma once

#include "image/reference.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::inventory {

/// An image of autopack under one of its names.
struct HeldImage {
  std::string name{};    ///< `repository:tag`; the id if it has no name
  std::string id{};      ///< in an engine, of the configuration; in a registry, of the manifest
  bool is_whole{false};  ///< false: only the dependencies
  bool is_ours{false};   ///< autopack chose the name; false for a user's own
  std::string key{};     ///< its first 16 digits
  std::uint64_t size{0};
  std::optional<std::int64_t> time{};  ///< when it got its name, in seconds since 1970
};

/// Returns the engine's images of `repositories` (as image::Reference::repository writes them),
/// newest first. If `repositories` is empty, returns all, including those without a name.
std::vector<HeldImage> images_in_engine(Services& services,
                                        const std::vector<std::string>& repositories);

struct ImagesInRegistry {
  std::vector<HeldImage> images{};
  std::size_t left_out{0};  ///< number of further images
};

/// Returns the images in the registry under autopack's own tags, with at most `most` requests.
/// Throws as the registry's client does.
ImagesInRegistry images_in_registry(Services& services,
                                    const image::Reference& repository,
                                    const std::string& platform,
                                    std::size_t most);

}  // namespace autopack::inventory
