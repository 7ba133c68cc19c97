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

/// Opens the repository of `reference`, with the logins and certificates of docker, podman and
/// Google's tools on this machine.
std::unique_ptr<registry::Repository> open_repository(Services& services,
                                                      const image::Reference& reference,
                                                      registry::Access access,
                                                      const http::RetryLimits& retries = {});

/// Opens the repository that `name` is pushed to. If a push finds it missing, it is created if it
/// is in Artifact Registry and autopack chose its name.
std::unique_ptr<registry::Repository> open_target(Services& services,
                                                  const packaging::ImageName& name);

/// Returns the remembered facts of the repository of `name`, without reading them yet.
std::shared_ptr<RepositoryFacts> open_repository_facts(Services& services,
                                                       const packaging::ImageName& name);

/// Asks the registry whether the repository of `name` is missing, and if so creates it; returns
/// true if it did. Asks nothing if the user chose the name. If the registry refuses or does not
/// answer, the repository counts as present. Throws like google::ensure_repository, or
/// Interrupted.
bool make_repository_if_missing(Services& services, const packaging::ImageName& name);

/// Returns the times of the RUN steps of the image `digest`, from its configuration, in seconds
/// since 1970.
std::vector<std::int64_t> run_times(Services& services,
                                    registry::Repository& repository,
                                    const Digest& digest,
                                    const std::string& platform);

}  // namespace autopack
