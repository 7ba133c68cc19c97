#pragma once

#include "google/credentials.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::google {

/// A credentials file: its path, and the JSON object that it holds.
struct CredentialsFile {
  std::filesystem::path path{};
  std::shared_ptr<const nlohmann::json> content{};

  /// Text at `key`; Error(usage) naming key and file when it is missing.
  std::string required(const char* key) const;
  /// Text at `key`; empty when it is missing.
  std::string optional(const char* key) const;
};

/// Keeps the token until shortly before its end. Safe to use from several threads.
class CachingTokenSource : public TokenSource {
public:
  explicit CachingTokenSource(CredentialOptions options) : options_{std::move(options)} {}

  AccessToken token() final;
  void expire() final;
  std::string quota_project() const override;

protected:
  virtual AccessToken fetch() = 0;

  const CredentialOptions& options() const { return options_; }

private:
  CredentialOptions options_;
  std::mutex mutex_;
  std::optional<AccessToken> token_{};
};

/// A request to a token endpoint (RFC 6749 section 3.2).
struct TokenRequest {
  std::string what{};  ///< for messages: "get an access token for `a@b`"
  std::string url{};
  std::vector<std::pair<std::string, std::string>> form{};
};

/// Sends it, up to three times while the endpoint is busy or away. Error(remote) with the
/// endpoint's own words when it refuses.
AccessToken request_token(const CredentialOptions& options, const TokenRequest& request);

/// Error(usage) unless `url` is https, or http on loopback; `origin` says where it came from.
void require_safe_endpoint(const std::string& url, const std::string& origin);

std::unique_ptr<TokenSource> make_access_token_file(CredentialOptions options);
std::unique_ptr<TokenSource> make_service_account(CredentialOptions options, CredentialsFile file);
std::unique_ptr<TokenSource> make_authorized_user(CredentialOptions options, CredentialsFile file);

}  // namespace autopack::google
