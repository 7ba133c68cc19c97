#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "base/secret.hpp"
#include "google/project.hpp"
#include "http/client.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::google {

struct AccessToken {
  Secret token{};
  std::int64_t expires_at{0};  ///< seconds since the epoch; 0 if unknown
};

/// Returns access tokens for the cloud-platform scope, and gets a new one shortly before the last
/// expires. Thread-safe.
class TokenSource {
public:
  virtual ~TokenSource() = default;
  virtual AccessToken token() = 0;
  /// Forgets the current token, because a service refused it.
  virtual void expire() = 0;
  /// Returns its source: "service account key `/path`, named by `GOOGLE_APPLICATION_CREDENTIALS`".
  virtual std::string describe() const = 0;
  /// Returns the project of the credentials, or nothing if they name none.
  virtual std::optional<std::string> project() const = 0;
  /// Returns the value of x-goog-user-project, or nothing if none applies.
  virtual std::optional<std::string> quota_project() const = 0;
};

struct CredentialOptions {
  std::optional<std::filesystem::path> access_token_file{};  ///< see find_access_token_file
  const Environment* environment{nullptr};
  http::Client* client{nullptr};
  /// Seconds since the epoch; if empty, the system's clock.
  std::function<std::int64_t()> now{};
  /// Waits between attempts at a token endpoint; if empty, really sleeps.
  std::function<void(std::chrono::milliseconds)> sleep{};
  /// `--billing-project`: overrides every other source of x-goog-user-project.
  std::optional<std::string> billing_project{};
  std::string access_token_file_origin{};
  Setting
      account{};  ///< see find_account; without a value, Application Default Credentials come first
  Setting impersonate{};  ///< see find_impersonation: comma-separated accounts, the last one acts
  GcloudConfiguration configuration{};
  /// Tokens are cached here between runs, in files that only the user can read; absent: no cache.
  std::optional<std::filesystem::path> token_directory{};
  const Cancellation* cancellation{nullptr};  ///< stops programs that supply tokens; may be null
  Reporter* reporter{nullptr};  ///< gets the selected source and the reason, with -v; may be null
};

/// Returns the first of these that exists: the access token file; the account that `account` names,
/// through gcloud; GOOGLE_APPLICATION_CREDENTIALS; gcloud's application default credentials; the
/// account of gcloud's configuration; the metadata server. Then applies impersonation. Only the
/// search for a metadata server uses the network; everything else waits until token(). Throws
/// Error(environment) with the commands that create credentials if nothing is found, and
/// Error(usage) if a named source is missing or unusable.
std::unique_ptr<TokenSource> find_credentials(const CredentialOptions& given);

}  // namespace autopack::google
