#pragma once

#include "google/credentials.hpp"
#include "registry/credentials.hpp"

#include <functional>
#include <string>

namespace autopack::google {

/// True for the hosts of Artifact Registry and gcr.io: nobody else is given a Google token.
bool is_google_registry(const std::string& host);

/// The login `oauth2accesstoken` with a token of `tokens` for Google's registries; none for other
/// hosts, and none when this machine has no Google credentials: what is public can be pulled
/// without. `tokens` is called from one thread at a time, and throws as find_credentials does.
registry::CredentialSource make_registry_login(std::function<TokenSource&()> tokens);

}  // namespace autopack::google
