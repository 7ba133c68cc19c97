#pragma once

#include "google/credentials.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::google {

constexpr auto cloud_platform_scope = "https://www.googleapis.com/auth/cloud-platform";

/// A credentials file, or one nested in another.
struct CredentialsFile {
  std::filesystem::path path{};
  std::optional<std::string> origin{};              ///< "named by `GOOGLE_APPLICATION_CREDENTIALS`"
  std::shared_ptr<const nlohmann::json> content{};  ///< an object

  /// "`/path`, named by `GOOGLE_APPLICATION_CREDENTIALS`".
  std::string place() const;
  /// Returns the string at `key`; throws Error(usage) naming key and file if it is missing.
  std::string required(const char* key) const;
  /// Returns the string at `key`, or nothing if it is missing or empty.
  std::optional<std::string> optional(const char* key) const;
  /// Returns Error(usage) about this file.
  Error fault(const std::string& what) const;
};

/// Caches the token until shortly before it expires; also between runs, if the credentials have an
/// identity.
class CachingTokenSource : public TokenSource {
public:
  explicit CachingTokenSource(CredentialOptions options) : options_{std::move(options)} {}

  AccessToken token() final;
  void expire() final;

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override;

  /// Returns a text that distinguishes these credentials from all others, secrets included, for the
  /// key of cached tokens. Returns nothing if a token must not outlive the run.
  virtual std::optional<std::string> identity() const { return {}; }

protected:
  virtual AccessToken fetch() = 0;

  const CredentialOptions& options() const { return options_; }

private:
  bool lasts(const AccessToken& token) const;

  CredentialOptions options_;
  std::mutex mutex_;
  std::optional<AccessToken> token_{};
};

/// A request to a token endpoint (RFC 6749 section 3.2).
struct TokenRequest {
  std::string what{};  ///< for messages: "get an access token for `a@b`"
  std::string url{};
  std::vector<std::pair<std::string, std::string>> form{};
  std::vector<http::Header> headers{};
  http::Tls tls{};  ///< a client certificate, if the endpoint requires one
};

/// Sends the request, up to three times while the endpoint is busy or down. If the endpoint
/// refuses, throws Error(remote) with its message, without secrets of the request.
AccessToken request_token(const CredentialOptions& options, const TokenRequest& request);

/// Sends a repeatable request, up to three times while the server is busy or down. Returns the last
/// response, or throws TransportError.
http::Response send_patiently(const CredentialOptions& options, const http::Request& request);

/// Returns `text` safe to print, cut to a message's length, with each of `secrets` replaced by
/// `***`.
std::string quote(std::string_view text, std::span<const std::string> secrets);

/// Throws Error(usage) unless `url` is https on a Google host, or on loopback: a token is sent
/// there. `origin` is the source of the URL, for the message.
void require_google_endpoint(const std::string& url, const std::string& origin);
/// Throws Error(usage) unless `url` is https, or http on loopback or on a cloud's metadata address.
void require_safe_endpoint(const std::string& url, const std::string& origin);

std::unique_ptr<CachingTokenSource> make_access_token_file(CredentialOptions options);
std::unique_ptr<CachingTokenSource> make_service_account(CredentialOptions options,
                                                         const CredentialsFile& file);
std::unique_ptr<CachingTokenSource> make_authorized_user(CredentialOptions options,
                                                         const CredentialsFile& file);
std::unique_ptr<CachingTokenSource> make_workforce_user(CredentialOptions options,
                                                        const CredentialsFile& file);
std::unique_ptr<CachingTokenSource> make_external_account(CredentialOptions options,
                                                          const CredentialsFile& file);
std::unique_ptr<CachingTokenSource> make_impersonated_file(CredentialOptions options,
                                                           const CredentialsFile& file);
/// An account that is logged in with gcloud. Runs gcloud when a token is needed. `why` is for
/// messages: "named by `--account`". Throws Error(environment) if there is no gcloud.
std::unique_ptr<CachingTokenSource> make_gcloud_account(CredentialOptions options,
                                                        const std::string& account,
                                                        const std::string& why);
/// The service account of this machine; null if no metadata server responds.
std::unique_ptr<CachingTokenSource> find_metadata_server(CredentialOptions options);
/// Supports every kind of credentials file.
std::unique_ptr<CachingTokenSource> make_from_file(const CredentialOptions& options,
                                                   const CredentialsFile& file);

/// A service account to impersonate.
struct Impersonation {
  std::string url{};  ///< ends in `:generateAccessToken`
  std::vector<std::string> delegates{};
  std::int64_t lifetime{3600};  ///< seconds
  std::string origin{};         ///< "`--impersonate-service-account`"

  /// Returns the account that `url` names.
  std::string account() const;
};

/// Impersonates `target` with the tokens of `source`.
std::unique_ptr<CachingTokenSource> make_impersonated(CredentialOptions options,
                                                      Impersonation target,
                                                      std::unique_ptr<CachingTokenSource> source);

/// Parses `options.impersonate`. Throws Error(usage) if it is not an account.
Impersonation parse_impersonation(const CredentialOptions& options);

/// Reads `service_account_impersonation_url` of a file, with lifetime and delegates.
Impersonation impersonation_of(const CredentialsFile& file);

/// The subject token of an external account's `credential_source`. The constructor throws
/// Error(usage) if the source is invalid.
class SubjectToken {
public:
  virtual ~SubjectToken() = default;
  virtual std::string get() = 0;

  /// Returns the client certificate for the handshake when this token is exchanged.
  virtual http::Tls tls() const { return {}; }
};

std::unique_ptr<SubjectToken> make_subject_token(const CredentialOptions& options,
                                                 const CredentialsFile& file);
/// For a `source` with `environment_id`.
std::unique_ptr<SubjectToken> make_aws_subject_token(const CredentialOptions& options,
                                                     const CredentialsFile& file,
                                                     const nlohmann::json& source);
/// For a `source` with `certificate`; reads its configuration immediately.
std::unique_ptr<SubjectToken> make_certificate_subject_token(const CredentialOptions& options,
                                                             const CredentialsFile& file,
                                                             const nlohmann::json& source);

}  // namespace autopack::google
