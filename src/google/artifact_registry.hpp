#pragma once

#include "google/api.hpp"
#include "google/credentials.hpp"
#include "image/reference.hpp"
#include "registry/credentials.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace autopack::google {

/// A repository of Artifact Registry, which contains images. A push never creates one.
struct RepositoryName {
  std::string project{};   ///< `my-project`, or `example.com:my-project` for a project of a domain
  std::string location{};  ///< `us-central1`, `europe`
  std::string repository{};

  /// Returns `projects/P/locations/L/repositories/R`.
  std::string str() const;
};

/// Returns the repository that `image` belongs to, or nothing if its registry is not an Artifact
/// Registry (`LOCATION-docker.pkg.dev`, `docker.LOCATION.rep.pkg.dev`) or its path has no
/// repository.
std::optional<RepositoryName> repository_of(const image::Reference& image);

/// Returns the command that creates the repository.
std::string create_command(const RepositoryName& name);

struct ArtifactRegistryOptions {
  ApiCaller caller{};
  /// CLOUDSDK_API_ENDPOINT_OVERRIDES_ARTIFACTREGISTRY; absent: Google's own.
  std::optional<std::string> endpoint_override{};
  const Cancellation* cancellation{nullptr};
  /// Waits between polls of an operation; if empty, really sleeps.
  std::function<void(std::chrono::milliseconds)> sleep{};
};

enum class Ensured { existed, created };

/// Ensures that `name` exists and accepts images: creates it if it is missing, and waits for that.
/// Never changes an existing one. Throws Error(usage) if its format is not DOCKER or it only
/// mirrors another repository, Error(remote) with the command that fixes it if Google refuses, and
/// Interrupted.
Ensured ensure_repository(const ArtifactRegistryOptions& options, const RepositoryName& name);

/// Returns true for the hosts of Artifact Registry and gcr.io: no other host gets a Google token.
bool is_google_registry(const std::string& host);

/// Returns the login `oauth2accesstoken` with a token of `tokens` for Google's registries. Returns
/// nothing for other hosts, or if this machine has no Google credentials: public images can be
/// pulled without. Calls `tokens` from one thread at a time; throws as find_credentials does.
registry::CredentialSource make_registry_login(std::function<TokenSource&()> tokens);

}  // namespace autopack::google
