#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "base/secret.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::registry {

/// What a registry accepts as a login.
struct Credential {
  std::string username{};
  Secret password{};
  Secret identity_token{};  ///< OAuth2 refresh token; then username and password are empty
  Secret registry_token{};  ///< Bearer token sent as it is
  std::string origin{};     ///< where it came from: "`~/.docker/config.json`", "helper `gcloud`"
  /// Told when a registry refuses it, so that the next question gets another; may be empty.
  std::function<void()> forget{};
};

/// The login for `HOST`, or for a repository `HOST/PATH`; none = anonymous. Error(environment) when
/// a helper fails, Error(usage) for a file that cannot be used. May be called from several threads.
using CredentialSource = std::function<std::optional<Credential>(const std::string& host)>;

/// Docker's own logins: DOCKER_AUTH_CONFIG, config.json `credHelpers`, `credsStore`, `auths`.
/// `docker.io` is looked up as `https://index.docker.io/v1/`. A helper does not outlast
/// `cancellation` (may be null): Error(interrupted).
CredentialSource make_docker_credentials(const Environment& environment,
                                         const Cancellation* cancellation = nullptr);

/// The logins of podman, buildah and skopeo, in the first of podman_files() that has one: the one
/// for the repository, or for what is nearest above it, down to its host. A file that is missing
/// has none.
CredentialSource make_podman_credentials(const Environment& environment,
                                         const Cancellation* cancellation = nullptr);

/// The first of `sources` that has a login.
CredentialSource first_of(std::vector<CredentialSource> sources);

/// The value of the Engine API's X-Registry-Auth header; base64 of `{}` for none.
Secret to_registry_auth(const std::optional<Credential>& credential, const std::string& host);

}  // namespace autopack::registry
