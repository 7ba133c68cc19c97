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

/// A credentials file, or one that stands within another.
struct CredentialsFile {
  std::filesystem::path path{};
  std::optional<std::string> origin{};              ///< "named by `GOOGLE_APPLICATION_CREDENTIALS`"
  std::shared_ptr<const nlohmann::json> content{};  ///< an object

  /// "`/path`, named by `GOOGLE_APPLICATION_CREDENTIALS`".
  std::string place() const;
  /// Text at `key`; Error(usage) naming key and file when it is missing.
  std::string required(const char* key) const;
  /// Text at `key`; none when it is missing or empty.
  std::optional<std::string> optional(const char* key) const;
  /// Error(usage) about this file.
  Error fault(const std::string& what) const;
};

/// Keeps the token until shortly before its end, and from one run to the next when the credentials
/// have an identity.
class CachingTokenSource : public TokenSource {
public:
  explicit CachingTokenSource(CredentialOptions options) : options_{std::move(options)} {}

  AccessToken token() final;
  void expire() final;

  std::optional<std::string> project() const override { return {}; }

  std::optional<std::string> quota_project() const override;

  /// What tells these credentials from all others, secrets included, for a key of stored tokens;
  /// none when a token must not outlive the run.
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
  http::Tls tls{};  ///< a client's certificate, where the endpoint asks for one
};

/// Sends it, up to three times while the endpoint is busy or away. Error(remote) with the
/// endpoint's own words, secrets of the request left out, when it refuses.
AccessToken request_token(const CredentialOptions& options, const TokenRequest& request);

/// Sends what may be sent twice, up to three times while the server is busy or away. The last
/// answer, or TransportError.
http::Response send_patiently(const CredentialOptions& options, const http::Request& request);

/// `text` safe to print and cut to a message's length, each of `secrets` in it made `***`.
std::string quote(std::string_view text, std::span<const std::string> secrets);

/// Error(usage) unless `url` is https on a host of Google's, or on loopback; `origin` says where it
/// came from. What is sent there is worth a token.
void require_google_endpoint(const std::string& url, const std::string& origin);
/// Error(usage) unless `url` is https, or http on loopback or on a cloud's metadata address.
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
/// An account that gcloud has logged in; it is asked when a token is needed. `why` for messages:
/// "named by `--account`". Error(environment) when there is no gcloud.
std::unique_ptr<CachingTokenSource> make_gcloud_account(CredentialOptions options,
                                                        const std::string& account,
                                                        const std::string& why);
/// The service account of the machine that this runs on; null when no metadata server answers.
std::unique_ptr<CachingTokenSource> find_metadata_server(CredentialOptions options);
/// Any kind of credentials file.
std::unique_ptr<CachingTokenSource> make_from_file(const CredentialOptions& options,
                                                   const CredentialsFile& file);

/// A service account that another one's token stands in for.
struct Impersonation {
  std::string url{};  ///< ends in `:generateAccessToken`
  std::vector<std::string> delegates{};
  std::int64_t lifetime{3600};  ///< seconds
  std::string origin{};         ///< "`--impersonate-service-account`"

  /// The account as `url` names it.
  std::string account() const;
};

/// Acts as `target` by the tokens of `source`.
std::unique_ptr<CachingTokenSource> make_impersonated(CredentialOptions options,
                                                      Impersonation target,
                                                      std::unique_ptr<CachingTokenSource> source);

/// `options.impersonate` as a target. Error(usage) for what is no account.
Impersonation parse_impersonation(const CredentialOptions& options);

/// `service_account_impersonation_url` of a file, its lifetime and delegates.
Impersonation impersonation_of(const CredentialsFile& file);

/// The subject token of an external account's `credential_source`. Error(usage) from the
/// constructor for what cannot be one.
class SubjectToken {
public:
  virtual ~SubjectToken() = default;
  virtual std::string get() = 0;

  /// What the exchange of the token must show in its handshake.
  virtual http::Tls tls() const { return {}; }
};

std::unique_ptr<SubjectToken> make_subject_token(const CredentialOptions& options,
                                                 const CredentialsFile& file);
/// The one of a `source` with `environment_id`.
std::unique_ptr<SubjectToken> make_aws_subject_token(const CredentialOptions& options,
                                                     const CredentialsFile& file,
                                                     const nlohmann::json& source);
/// The one of a `source` with `certificate`; its configuration is read at once.
std::unique_ptr<SubjectToken> make_certificate_subject_token(const CredentialOptions& options,
                                                             const CredentialsFile& file,
                                                             const nlohmann::json& source);

}  // namespace autopack::google
