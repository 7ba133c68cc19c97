#pragma once

#include "google/credentials.hpp"
#include "registry/credentials.hpp"

#include <functional>
#include <string>

namespace autopack::google {

/// Returns true for the hosts of Artifact Registry and gcr.io: no other host gets a Google token.
bool is_google_registry(const std::string& host);

/// Returns the login `oauth2accesstoken` with a token of `tokens` for Google's registries. Returns
/// nothing for other hosts, or if this machine has no Google credentials: public images can be
/// pulled without. Calls `tokens` from one thread at a time; throws as find_credentials does.
registry::CredentialSource make_registry_login(std::function<TokenSource&()> tokens);

}  // namespace autopack::google
