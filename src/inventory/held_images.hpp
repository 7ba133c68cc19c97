#pragma once

#include "image/reference.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::inventory {

/// An image of autopack's under one of its names.
struct HeldImage {
  std::string name{};    ///< `repository:tag`; the id of one that lost its names
  std::string id{};      ///< in an engine of the configuration, in a registry of the manifest
  bool is_whole{false};  ///< false: only the dependencies are in it
  bool is_ours{false};   ///< autopack gave it its name; false for a person's own
  std::string key{};     ///< its first 16 digits
  std::uint64_t size{0};
  std::optional<std::int64_t> time{};  ///< when it got its name, in seconds since 1970
};

/// Those of the engine, the newest first: of `repositories` (as image::Reference::repository writes
/// them), or with none of all, and then those without a name too.
std::vector<HeldImage> images_in_engine(Services& services,
                                        const std::vector<std::string>& repositories);

struct ImagesInRegistry {
  std::vector<HeldImage> images{};
  std::size_t left_out{0};  ///< how many more there are
};

/// Those that stand in the registry under autopack's own tags, by `most` requests. Throws what the
/// registry's client throws.
ImagesInRegistry images_in_registry(Services& services,
                                    const image::Reference& repository,
                                    const std::string& platform,
                                    std::size_t most);

}  // namespace autopack::inventory
