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

/// The notes of the repository that `name` goes to; nothing is asked yet.
std::shared_ptr<RepositoryNotes> open_notes(Services& services, const packaging::ImageName& name);

/// Asks the registry whether it lacks the repository of `name`, and makes it; true when it was
/// made. Nothing is asked of one that the user named. What the registry refuses or does not answer
/// counts as not lacking; throws as google::ensure_repository does, or Error(interrupted).
bool make_repository_if_missing(Services& services, const packaging::ImageName& name);

/// When the RUN steps of the image `digest` ran, by its configuration, in seconds since 1970.
std::vector<std::int64_t> run_times(Services& services,
                                    registry::Repository& repository,
                                    const Digest& digest,
                                    const std::string& platform);

}  // namespace autopack
