#pragma once

#include "image/source.hpp"
#include "registry/client.hpp"
#include "services/services.hpp"

#include <memory>
#include <string>

namespace autopack {

/// The image that `repository` has under the digest of `reference`, for `platform`; manifest and
/// configuration from the cache when they are there. Throws Error(remote) when there is none.
image::Source registry_image(Services& services,
                             std::shared_ptr<registry::Repository> repository,
                             const image::Reference& reference,
                             const std::string& platform);

/// The same, of the repository that `reference` names.
image::Source registry_image(Services& services,
                             const image::Reference& reference,
                             const std::string& platform);

}  // namespace autopack
