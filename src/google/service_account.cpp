#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

/// The audience of the assertion, whatever the token_uri is.
constexpr auto audience = "https://oauth2.googleapis.com/token";
constexpr auto jwt_grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::int64_t lifetime = 3600;  // seconds, the maximum

class ServiceAccount final : public CachingTokenSource {
public:
  ServiceAccount(CredentialOptions options, const CredentialsFile& file)
      : CachingTokenSource{std::move(options)},
        place_{file.place()},
        email_{file.required("client_email")},
        key_id_{file.optional("private_key_id").value_or("")},
        key_{file.required("private_key")},
        token_uri_{file.required("token_uri")},
        project_{file.optional("project_id")},
        self_signed_{wants_self_signed(this->options())} {
    require_google_endpoint(token_uri_, fmt::format("`token_uri` of {}", place_));
    // reports a key that cannot sign before anything is built
    static_cast<void>(sign("probe"));
  }

  std::string describe() const override {
    return fmt::format("service account key {}{}", place_,
                       self_signed_ ? ", which signs the tokens itself" : "");
  }

  std::optional<std::string> project() const override { return project_; }

  /// A self-signed token costs nothing, so it is not cached.
  std::optional<std::string> identity() const override {
    if (self_signed_) {
      return std::nullopt;
    }
    return fmt::format("service_account\n{}\n{}\n{}", token_uri_, email_, key_.reveal());
  }

protected:
  AccessToken fetch() override {
    const auto now = options().now();
    json claims{
        {"iss", email_}, {"scope", cloud_platform_scope}, {"iat", now}, {"exp", now + lifetime}};
    if (self_signed_) {
      claims["sub"] = email_;
      return {.token = Secret{signed_token(claims)}, .expires_at = now + lifetime};
    }
    claims["aud"] = audience;
    try {
      return request_token(
          options(), {.what = fmt::format("get an access token with {}", describe()),
                      .url = token_uri_,
                      .form = {{"assertion", signed_token(claims)}, {"grant_type", jwt_grant}}});
    } catch (const http::TransportError&) {
      throw;
    } catch (Error& error) {
      error.hint("check the key: gcloud iam service-accounts keys list --iam-account=" +
                 shell_quote(email_));
      throw;
    }
  }

private:
  /// The same rule as in gcloud.
  static bool wants_self_signed(const CredentialOptions& options) {
    const auto set = find_property("auth/service_account_use_self_signed_jwt", *options.environment,
                                   options.configuration);
    return set.value && (to_lower(*set.value) == "true" || *set.value == "1");
  }

  std::string sign(std::string_view message) const {
    return with_context(fmt::format("could not use service account key {}", place_),
                        [&] { return rs256_sign(key_.reveal(), message); });
  }

  std::string signed_token(const json& claims) const {
    json header{{"alg", "RS256"}, {"typ", "JWT"}};
    if (!key_id_.empty()) {
      header["kid"] = key_id_;
    }
    const auto message =
        base64url_encode(write_json(header)) + "." + base64url_encode(write_json(claims));
    return message + "." + base64url_encode(sign(message));
  }

  std::string place_;
  std::string email_;
  std::string key_id_;
  Secret key_;
  std::string token_uri_;
  std::optional<std::string> project_;
  bool self_signed_;
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_service_account(CredentialOptions options,
                                                         const CredentialsFile& file) {
  return std::make_unique<ServiceAccount>(std::move(options), file);
}

}  // namespace autopack::google
