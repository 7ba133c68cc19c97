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

/// A login for a registry.
struct Credential {
  std::string username{};
  Secret password{};
  Secret identity_token{};  ///< OAuth2 refresh token; if set, username and password are empty
  Secret registry_token{};  ///< Bearer token, sent unchanged
  std::string origin{};     ///< its source: "`~/.docker/config.json`", "helper `gcloud`"
  /// Called if a registry refuses the login, so that the next lookup returns a new one; may be
  /// empty.
  std::function<void()> forget{};
};

/// Returns the login for `HOST`, or for a repository `HOST/PATH`; nothing means anonymous. Throws
/// Error(environment) if a helper fails, Error(usage) for a file that cannot be used. Thread-safe.
using CredentialSource = std::function<std::optional<Credential>(const std::string& host)>;

/// Returns Docker's logins: DOCKER_AUTH_CONFIG, and `credHelpers`, `credsStore` and `auths` of
/// config.json. `docker.io` is looked up as `https://index.docker.io/v1/`. If `cancellation` (may
/// be null) is requested, kills a running helper and throws Interrupted.
CredentialSource make_docker_credentials(const Environment& environment,
                                         const Cancellation* cancellation = nullptr);

/// Returns the logins of podman, buildah and skopeo, from the first of podman_files() that has one:
/// the login for the repository, or for its closest parent, up to the host. A missing file has no
/// logins.
CredentialSource make_podman_credentials(const Environment& environment,
                                         const Cancellation* cancellation = nullptr);

/// Returns a source that asks `sources` in order and returns the first login.
CredentialSource first_of(std::vector<CredentialSource> sources);

/// Returns the value of the Engine API's X-Registry-Auth header; base64 of `{}` without a login.
Secret to_registry_auth(const std::optional<Credential>& credential, const std::string& host);

/// Asks `docker-credential-NAME` (found on PATH of `environment`) for the login of `server`.
/// Returns nothing if it has none. Throws Error(environment) if the helper is missing or fails.
/// `configured_in` names the file that configures the helper. If `cancellation` (may be null) is
/// requested, kills the helper and throws Interrupted.
std::optional<Credential> ask_helper(const Environment& environment,
                                     const std::string& name,
                                     const std::string& server,
                                     const std::string& configured_in,
                                     const Cancellation* cancellation);

/// Returns a helper's output for a message: one line, without anything that looks like a secret.
std::string without_secrets(std::string_view text);

}  // namespace autopack::registry
