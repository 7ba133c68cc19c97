#pragma once

#include "base/report.hpp"
#include "registry/credentials.hpp"

namespace autopack::registry {

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
