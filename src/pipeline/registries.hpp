#pragma once

#include "image/reference.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/services.hpp"
#include "registry/client.hpp"

#include <memory>

namespace autopack::pipeline {

/// The repository of `reference`, with the logins and certificates that docker,
/// podman and Google's tools left on this machine.
std::unique_ptr<registry::Repository> open_repository(Services& services,
                                                      const image::Reference& reference,
                                                      registry::Access access,
                                                      const http::RetryLimits& retries = {});

/// The repository that `name` goes to. One of Artifact Registry that autopack named itself is made
/// when a push finds it missing.
std::unique_ptr<registry::Repository> open_target(Services& services, const ImageName& name);

/// Has the docker engine push `reference`, a name in the repository of `name`, which is made as
/// open_target does.
engine::PushResult push_with_engine(Services& services,
                                    const ImageName& name,
                                    const image::Reference& reference);

}  // namespace autopack::pipeline
