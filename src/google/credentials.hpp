#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "base/secret.hpp"
#include "http/client.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace autopack::google {

struct AccessToken {
  Secret token{};
  std::int64_t expires_at{0};  ///< seconds since the epoch; 0 when not known
};

/// Gives access tokens for the cloud-platform scope, a new one when the last is about to end.
class TokenSource {
public:
  virtual ~TokenSource() = default;
  virtual AccessToken token() = 0;
  /// Forgets the token at hand: a service refused it.
  virtual void expire() = 0;
  /// Where it comes from: "service account key `/path`".
  virtual std::string describe() const = 0;
  /// Project of the credentials; empty when they name none.
  virtual std::string project() const = 0;
  /// x-goog-user-project; empty when none applies.
  virtual std::string quota_project() const = 0;
};

struct CredentialOptions {
  std::filesystem::path access_token_file{};  ///< see find_access_token_file
  const Environment* environment{nullptr};
  http::Client* client{nullptr};
  /// Seconds since the epoch; the system's clock when empty.
  std::function<std::int64_t()> now{};
  /// Waits between tries of a token endpoint; really sleeps when empty.
  std::function<void(std::chrono::milliseconds)> sleep{};
  std::string billing_project{};  ///< `--billing-project`: x-goog-user-project whatever else is set
};

/// Access token file, then Application Default Credentials (vertex.md 3.1): service account keys
/// and authorized users. Reads files only; the network waits for token(). Error(environment) when
/// nothing is found, with the commands that make credentials; Error(usage) for a file that is
/// missing or cannot be used.
std::unique_ptr<TokenSource> find_credentials(const CredentialOptions& options);

}  // namespace autopack::google
