#pragma once

#include "base/report.hpp"
#include "registry/credentials.hpp"

namespace autopack::registry {

/// Asks `docker-credential-NAME` (found through PATH of `environment`) for the login of `server`.
/// None when it has none; throws Error(environment) when it is missing or fails. `configured_in`
/// tells where the helper was named. A helper that runs when `cancellation` (may be null) is
/// requested is ended: Error(interrupted).
std::optional<Credential> ask_helper(const Environment& environment,
                                     const std::string& name,
                                     const std::string& server,
                                     const std::string& configured_in,
                                     const Cancellation* cancellation);

/// What a helper printed, fit for a message: one line, without anything that looks like a secret.
std::string without_secrets(std::string_view text);

}  // namespace autopack::registry
