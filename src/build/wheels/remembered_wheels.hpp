#pragma once

#include "base/digest.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// Facts that a repository remembers about a wheel that the index does not provide; without them it
/// must be fetched.
struct RememberedWheel {
  std::uint64_t size{0};                            ///< in bytes
  std::optional<std::vector<std::string>> needs{};  ///< requirements, as written

  bool operator==(const RememberedWheel&) const = default;
};

using RememberedWheels = std::map<Digest, RememberedWheel>;

/// The key of their text in a repository.
inline constexpr auto* remembered_wheels_key = "wheels";

std::string to_json(const RememberedWheels& wheels);
/// Skips damaged entries.
RememberedWheels remembered_wheels_from_json(std::string_view text);

/// Returns the facts about wheels that the target repository remembers; empty if there are none.
RememberedWheels remembered_wheels(Services& services);

/// Returns what this machine knows about `wheels`, for the repository.
RememberedWheels known_wheels(const Services& services,
                              const std::vector<wheel::ChosenWheel>& wheels);

/// Returns the requirements of the wheel `digest`, as cached on this machine; nothing if they are
/// not.
std::optional<std::vector<std::string>> cached_needs(const Services& services,
                                                     const Digest& digest);
void cache_needs(const Services& services,
                 const Digest& digest,
                 const std::vector<std::string>& needs);

}  // namespace autopack::build
