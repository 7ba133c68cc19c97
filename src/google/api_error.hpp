#pragma once

#include "http/client.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::google {

/// The error of a Google API (google.rpc.Status as JSON); safe to print.
struct ApiError {
  int http_status{0};
  std::optional<std::string>
      status{};           ///< `INVALID_ARGUMENT`; absent if the response is not such JSON
  std::string message{};  ///< its message, or the start of the response's text
  std::vector<std::string> findings{};  ///< the message's numbered findings, else the message
  std::optional<std::string> reason{};  ///< `SERVICE_DISABLED` and the like
  std::optional<std::string> link{};    ///< a page of the Google Cloud console with the fix
};

/// Reads the body of a response that is not 2xx.
ApiError read_api_error(const http::Response& response);

/// Returns `POST https://...: 400 INVALID_ARGUMENT`.
std::string describe(const ApiError& error, const std::string& method, const std::string& url);

}  // namespace autopack::google
