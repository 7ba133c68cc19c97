#pragma once

#include "image/source.hpp"
#include "registry/client.hpp"
#include "services/services.hpp"

#include <memory>
#include <string>

namespace autopack {

/// Returns the image in `repository` with the digest of `reference`, for `platform`; uses manifest
/// and configuration from the cache if they are there. Throws Error(remote) if there is no such
/// image.
image::Source registry_image(Services& services,
                             std::shared_ptr<registry::Repository> repository,
                             const image::Reference& reference,
                             const std::string& platform);

/// The same, in the repository that `reference` names.
image::Source registry_image(Services& services,
                             const image::Reference& reference,
                             const std::string& platform);

/// The same; without a digest, `reference` gets that of its tag.
image::Source named_image(Services& services,
                          const image::Reference& reference,
                          const std::string& platform);

}  // namespace autopack
