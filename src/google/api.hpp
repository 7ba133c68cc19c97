#pragma once

#include "google/credentials.hpp"
#include "http/client.hpp"

#include <functional>
#include <string>

namespace autopack::google {

/// Who calls Google's APIs, and by what.
struct ApiCaller {
  http::Client* client{nullptr};
  TokenSource* credentials{nullptr};
};

/// Sends `request` with an access token and, where one applies, the quota project. A token that is
/// refused (401) is made anew once. The answer, whatever its status. Throws as Client::send and
/// TokenSource::token do.
http::Response send(const ApiCaller& caller, http::Request request);

}  // namespace autopack::google
