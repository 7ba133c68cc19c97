#pragma once

#include "image/reference.hpp"
#include "image/source.hpp"
#include "pipeline/services.hpp"
#include "plan/plan.hpp"
#include "registry/client.hpp"

#include <memory>
#include <optional>
#include <string>

namespace autopack::pipeline {

/// The image below the code, and where it is when a registry has it.
struct Parent {
  image::Source image{};
  std::optional<image::Reference> reference{};
};

/// The executor image of `plan`, in files or in its registry; the plan must know its digest.
Parent base_image(Services& services, const plan::Plan& plan);

/// The image that `repository` has under the digest of `reference`, for `platform`; manifest and
/// configuration from the cache when they are there. Throws Error(remote) when there is none.
image::Source registry_image(Services& services,
                             std::shared_ptr<registry::Repository> repository,
                             const image::Reference& reference,
                             const std::string& platform);

}  // namespace autopack::pipeline
