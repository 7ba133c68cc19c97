#pragma once

#include "image/reference.hpp"
#include "packaging/image_name.hpp"
#include "registry/client.hpp"
#include "services/services.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace autopack {

/// The repository of `reference`, with the logins and certificates that docker, podman and Google's
/// tools left on this machine.
std::unique_ptr<registry::Repository> open_repository(Services& services,
                                                      const image::Reference& reference,
                                                      registry::Access access,
                                                      const http::RetryLimits& retries = {});

/// The repository that `name` goes to. One of Artifact Registry that autopack named itself is made
/// when a push finds it missing.
std::unique_ptr<registry::Repository> open_target(Services& services,
                                                  const packaging::ImageName& name);

/// True when the repository of `name` is there now: only one that the user did not name is made.
bool make_missing_repository(Services& services, const packaging::ImageName& name);

/// When the RUN steps of the image `digest` ran, by its configuration, in seconds since 1970.
std::vector<std::int64_t> run_times(Services& services,
                                    registry::Repository& repository,
                                    const Digest& digest,
                                    const std::string& platform);

}  // namespace autopack
