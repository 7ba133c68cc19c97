#pragma once

#include "image/reference.hpp"
#include "image/source.hpp"
#include "pipeline/services.hpp"
#include "registry/client.hpp"

#include <memory>
#include <string>

namespace autopack::pipeline {

/// The image that `repository` has under the digest of `reference`, for `platform`; manifest and
/// configuration from the cache when they are there. Throws Error(remote) when there is none.
image::Source registry_image(Services& services,
                             std::shared_ptr<registry::Repository> repository,
                             const image::Reference& reference,
                             const std::string& platform);

}  // namespace autopack::pipeline
