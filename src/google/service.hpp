#pragma once

#include "base/report.hpp"
#include "google/api.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::google {

using Sleep = std::function<void(std::chrono::milliseconds)>;

/// Returns a sleep that ends with Interrupted if `cancellation` (may be null) requests it.
Sleep interruptible_sleep(const Cancellation* cancellation);

struct ServiceOptions {
  /// Called on first use, so that a dry run needs no credentials.
  std::function<TokenSource&()> credentials{};
  http::Client* client{nullptr};
  Sleep sleep{};
};

/// A call of a REST method with JSON.
struct Call {
  std::string what{};  ///< for messages: "list the custom jobs"
  std::string method{"GET"};
  std::string url{};
  std::string body{};
  std::vector<http::Header> headers{};
  /// For a call that must not be repeated (see http::Request::new_connection).
  bool only_once{false};
};

/// Google's APIs as jobs use them: JSON calls, repeated if that is safe.
class Service {
public:
  explicit Service(ServiceOptions options) : options_{std::move(options)} {}

  /// Finds the credentials. Throws as find_credentials does.
  void make_ready() const { options_.credentials(); }

  /// Fetches a token for the calls that follow.
  void fetch_token() const { static_cast<void>(options_.credentials().token()); }

  /// Returns the response, whatever its status. Throws as google::send does.
  http::Response send(const Call& call) const;
  /// The same for calls that may be repeated: up to five attempts while the service is busy or
  /// down.
  http::Response ask(const Call& call) const;
  /// Calls ask() and returns the JSON object. Throws Error(remote) if the status is not 2xx or the
  /// response is not an object.
  nlohmann::json ask_json(const Call& call) const;
  /// Returns the same service over another client, which is not interrupted.
  Service over(http::Client& client) const;

  const ServiceOptions& options() const { return options_; }

private:
  ServiceOptions options_;
};

/// Returns the error for a refused call: `message`, the service's reason, and remedies.
Error refusal(const std::string& message, const Call& call, const http::Response& response);

/// Returns true if a later attempt may succeed: 408, 429 and 5xx.
bool is_passing(int status);

/// Returns `override_url`, or else `https://HOST`; without a trailing slash.
std::string endpoint_of(const std::string& host, const std::optional<std::string>& override_url);

}  // namespace autopack::google
