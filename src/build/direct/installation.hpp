#pragma once

#include "image/source.hpp"
#include "plan/install_record.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// A dependency image's record of how the project's own package was installed.
struct Installation {
  std::vector<std::string> made{};  ///< the project's files that it wrote: plan::placed_code
  /// Why it is not valid for a plan, in words that follow "because"; absent if it is valid.
  std::optional<std::string> outdated{};
};

/// For an image in a registry. Reads its last layer unless its record is cached. If `plan` installs
/// no package, nothing is outdated.
Installation installation_in(Services& services,
                             const plan::Plan& plan,
                             const image::Source& image);

/// The same for the image `id` of the engine.
Installation installation_in_engine(Services& services,
                                    const plan::Plan& plan,
                                    const std::string& id);

/// The same from the cached record of the last image for the dependencies of `plan`, without any
/// request; empty if there is none.
Installation last_installation(const Services& services, const plan::Plan& plan);

/// Returns Installation::made of the same, without reading the code of `plan`.
std::vector<std::string> last_made(const Services& services, const plan::Plan& plan);

}  // namespace autopack::build
