#pragma once

#include "base/report.hpp"
#include "google/api.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::google {

using Sleep = std::function<void(std::chrono::milliseconds)>;

/// Sleeps that end with Error(interrupted) when `cancellation` (may be null) asks for it.
Sleep interruptible_sleep(const Cancellation* cancellation);

struct ServiceOptions {
  /// Called when first needed, so that a dry run needs no credentials.
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
  /// For what must not happen twice (see http::Request::new_connection).
  bool only_once{false};
};

/// Google's APIs as jobs use them: calls in JSON, repeated where that does no harm.
class Service {
public:
  explicit Service(ServiceOptions options) : options_{std::move(options)} {}

  /// Finds the credentials. Throws as find_credentials does.
  void make_ready() const { options_.credentials(); }

  /// Has a token at hand for the calls that follow.
  void fetch_token() const { static_cast<void>(options_.credentials().token()); }

  /// The answer, whatever its status. Throws as google::send does.
  http::Response send(const Call& call) const;
  /// The same for calls that may be repeated: up to five tries while the service is busy or away.
  http::Response ask(const Call& call) const;
  /// ask(), and its answer as a JSON object; Error(remote) for any other status than 2xx and for
  /// an answer that is no object.
  nlohmann::json ask_json(const Call& call) const;
  /// The same service over another client, which nothing interrupts.
  Service over(http::Client& client) const;

  const ServiceOptions& options() const { return options_; }

private:
  ServiceOptions options_;
};

/// A call that was refused: `message`, what the service said, and remedies for it.
Error refusal(const std::string& message, const Call& call, const http::Response& response);

/// True for answers that a later try may better: 408, 429 and 5xx.
bool is_passing(int status);

/// `override_url` as it is, else `https://HOST`; without a slash at its end.
std::string endpoint_of(const std::string& host, const std::optional<std::string>& override_url);

}  // namespace autopack::google
