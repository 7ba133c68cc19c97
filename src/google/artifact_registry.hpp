#pragma once

#include "google/api.hpp"
#include "image/reference.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace autopack::google {

/// A repository of Artifact Registry, which holds images; it is never made by a push.
struct RepositoryName {
  std::string project{};   ///< `my-project`, or of a domain `example.com:my-project`
  std::string location{};  ///< `us-central1`, `europe`
  std::string repository{};

  /// `projects/P/locations/L/repositories/R`.
  std::string str() const;
};

/// The repository that `image` belongs to; none when its registry is not an Artifact Registry
/// (`LOCATION-docker.pkg.dev`, `docker.LOCATION.rep.pkg.dev`) or its path has no repository.
std::optional<RepositoryName> repository_of(const image::Reference& image);

/// The command that makes the repository.
std::string create_command(const RepositoryName& name);

struct ArtifactRegistryOptions {
  ApiCaller caller{};
  /// CLOUDSDK_API_ENDPOINT_OVERRIDES_ARTIFACTREGISTRY; none: Google's own.
  std::optional<std::string> endpoint_override{};
  const Cancellation* cancellation{nullptr};
  /// Waits between looks at an operation; really sleeps when empty.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

enum class Ensured { existed, created };

/// Sees to it that `name` exists and takes images: makes it when it is missing, and waits for that.
/// One that exists is never changed; Error(usage) when its format is not DOCKER or it only mirrors
/// another. Error(remote) with the command that mends it when Google refuses; Error(interrupted).
Ensured ensure_repository(const ArtifactRegistryOptions& options, const RepositoryName& name);

}  // namespace autopack::google
