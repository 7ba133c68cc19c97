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

namespace autopack::engine {

/// What notes say of a wheel that an index does not tell, and that it would be fetched for.
struct ToldWheel {
  std::uint64_t size{0};                            ///< in bytes
  std::optional<std::vector<std::string>> needs{};  ///< requirements, as they are written

  bool operator==(const ToldWheel&) const = default;
};

/// By digest.
using ToldWheels = std::map<Digest, ToldWheel>;

/// The key of their text among the notes.
inline constexpr auto* told_wheels_key = "wheels";

std::string to_json(const ToldWheels& wheels);
/// Without those that are damaged.
ToldWheels told_wheels_from_json(std::string_view text);

/// What the repository that the image goes to notes of wheels; empty when it notes nothing.
ToldWheels told_wheels(Services& services);

/// What this machine knows of `wheels`, to be noted.
ToldWheels known_wheels(const Services& services, const std::vector<wheel::ChosenWheel>& wheels);

/// What the wheel `digest` needs, as it was remembered on this machine; none when it was not.
std::optional<std::vector<std::string>> remembered_needs(const Services& services,
                                                         const Digest& digest);
void remember_needs(const Services& services,
                    const Digest& digest,
                    const std::vector<std::string>& needs);

}  // namespace autopack::engine
