#pragma once

#include "http/client.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::google {

/// What a Google API said when it refused (google.rpc.Status as JSON); safe to print.
struct ApiError {
  int http_status{0};
  std::optional<std::string>
      status{};           ///< `INVALID_ARGUMENT`; none when the answer is no such JSON
  std::string message{};  ///< its own words, or the start of the answer's text
  std::vector<std::string> findings{};  ///< the message's numbered findings, else the message
  std::optional<std::string> reason{};  ///< `SERVICE_DISABLED` and the like
  std::optional<std::string> link{};    ///< a page of the Google Cloud console that mends it
};

/// Reads the body of an answer that is not 2xx.
ApiError read_api_error(const http::Response& response);

/// `POST https://...: 400 INVALID_ARGUMENT`.
std::string describe(const ApiError& error, const std::string& method, const std::string& url);

}  // namespace autopack::google
