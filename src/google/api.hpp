#pragma once

#include "google/credentials.hpp"
#include "http/client.hpp"

#include <functional>
#include <string>

namespace autopack::google {

/// How to call Google's APIs.
struct ApiCaller {
  http::Client* client{nullptr};
  TokenSource* credentials{nullptr};
};

/// Sends `request` with an access token and, if one applies, the quota project. If the token is
/// refused (401), gets a new one once. Returns the response, whatever its status. Throws as
/// Client::send and TokenSource::token do.
http::Response send(const ApiCaller& caller, http::Request request);

}  // namespace autopack::google
