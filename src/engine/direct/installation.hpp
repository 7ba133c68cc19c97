#pragma once

#include "image/source.hpp"
#include "plan/install_record.hpp"
#include "services/services.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// What a dependency image tells of the installation of the project's own package.
struct Installation {
  std::vector<std::string> made{};  ///< files of the project that it wrote: plan::placed_code
  /// Why it does not hold for a plan, in words that follow "because"; none when it does.
  std::optional<std::string> outdated{};
};

/// Of an image in a registry: its last layer is read when its record was never seen here. Nothing
/// is outdated when `plan` installs no package.
Installation installation_in(Services& services,
                             const plan::Plan& plan,
                             const image::Source& image);

/// The same of the image `id` of the engine.
Installation installation_in_engine(Services& services,
                                    const plan::Plan& plan,
                                    const std::string& id);

/// The same by what was seen here last of an image for the dependencies of `plan`, without asking
/// anybody; nothing made and nothing outdated when none was.
Installation last_installation(const Services& services, const plan::Plan& plan);

/// Installation::made of the same, without a look at the code of `plan`.
std::vector<std::string> last_made(const Services& services, const plan::Plan& plan);

}  // namespace autopack::engine
