#pragma once

#include "base/url.hpp"
#include "registry/challenge.hpp"
#include "registry/credentials.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autopack::registry {

/// Per request.
inline constexpr int max_redirects{5};

/// Answers a registry's challenges: Basic, or tokens from its realm. Thread-safe.
class Login {
public:
  using Send = std::function<http::Response(const http::Request&)>;

  /// `send` must do its own retries. `host` is spelled as the user wrote it.
  Login(std::string host, CredentialSource source, Send send);

  /// Requests this scope too (`repository:PATH:pull`).
  void add_scope(const std::string& scope);
  /// Returns the current Authorization header, or nothing if none is needed. Fetches a new token if
  /// the last one has expired or lacks a scope.
  std::optional<std::string> authorization();
  /// Call it after a 401 to a request that carried `used`. Returns true if there is now another
  /// header to try.
  bool renew(const std::optional<std::string>& used,
             const http::Response& answer,
             const Url& registry);
  /// Returns the login that was found; nothing before the first challenge.
  std::optional<Credential> credential() const;

private:
  std::optional<std::string> header() const;
  void fetch_token();
  http::Response ask_realm(const http::Request& request);
  void forget_credential();
  http::Request token_request() const;

  std::string host_;
  CredentialSource source_;
  Send send_;
  mutable std::mutex mutex_;
  std::vector<std::string> scopes_;
  std::vector<std::string> granted_;
  std::optional<Credential> credential_;
  std::optional<Challenge> bearer_;
  std::string realm_;
  std::optional<Secret> header_;
  std::chrono::steady_clock::time_point expires_;
};

}  // namespace autopack::registry
