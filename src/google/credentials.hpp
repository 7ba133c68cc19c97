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
  std::int64_t expires_at{0};  ///< seconds since the epoch; 0 when not known
};

/// Gives access tokens for the cloud-platform scope, a new one when the last is about to end. Safe
/// to use from several threads.
class TokenSource {
public:
  virtual ~TokenSource() = default;
  virtual AccessToken token() = 0;
  /// Forgets the token at hand: a service refused it.
  virtual void expire() = 0;
  /// Where it comes from: "service account key `/path`, named by `GOOGLE_APPLICATION_CREDENTIALS`".
  virtual std::string describe() const = 0;
  /// Project of the credentials; none when they name none.
  virtual std::optional<std::string> project() const = 0;
  /// x-goog-user-project; none when none applies.
  virtual std::optional<std::string> quota_project() const = 0;
};

struct CredentialOptions {
  std::optional<std::filesystem::path> access_token_file{};  ///< see find_access_token_file
  const Environment* environment{nullptr};
  http::Client* client{nullptr};
  /// Seconds since the epoch; the system's clock when empty.
  std::function<std::int64_t()> now{};
  /// Waits between tries of a token endpoint; really sleeps when empty.
  std::function<void(std::chrono::milliseconds)> sleep{};
  /// `--billing-project`: x-goog-user-project whatever else is set.
  std::optional<std::string> billing_project{};
  std::string access_token_file_origin{};
  Setting
      account{};  ///< see find_account; without a value Application Default Credentials come first
  Setting impersonate{};  ///< see find_impersonation: accounts with commas between, the last acts
  GcloudConfiguration configuration{};
  /// Where tokens are kept from one run to the next, in files that only the user can read; none:
  /// nowhere.
  std::optional<std::filesystem::path> token_directory{};
  const Cancellation* cancellation{nullptr};  ///< ends programs that are asked; may be null
  Reporter* reporter{nullptr};  ///< told which source was taken and why, with -v; may be null
};

/// The first that is there: the access token file; the account that `account`
/// names, by gcloud; GOOGLE_APPLICATION_CREDENTIALS; gcloud's application default credentials; the
/// account of gcloud's configuration; the metadata server. Then impersonation. Only the search for
/// a metadata server uses the network; all else waits for token(). Error(environment) when nothing
/// is found, with the commands that make credentials; Error(usage) for what is named but missing or
/// cannot be used.
std::unique_ptr<TokenSource> find_credentials(const CredentialOptions& given);

}  // namespace autopack::google
