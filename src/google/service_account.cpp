#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr auto scope = "https://www.googleapis.com/auth/cloud-platform";
/// Whatever the token_uri, the assertion is made out to this name.
constexpr auto audience = "https://oauth2.googleapis.com/token";
constexpr auto grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::int64_t lifetime = 3600;  // seconds, the longest allowed

class ServiceAccount final : public CachingTokenSource {
public:
  ServiceAccount(CredentialOptions options, const CredentialsFile& file)
      : CachingTokenSource{std::move(options)},
        path_{file.path},
        email_{file.required("client_email")},
        key_id_{file.optional("private_key_id")},
        key_{file.required("private_key")},
        token_uri_{file.required("token_uri")},
        project_{file.optional("project_id")} {
    require_safe_endpoint(token_uri_, fmt::format("`token_uri` of `{}`", path_.string()));
    // a key that cannot sign is told before anything is built
    static_cast<void>(sign("probe"));
  }

  std::string describe() const override {
    return fmt::format("service account key `{}`", path_.string());
  }

  std::string project() const override { return project_; }

protected:
  AccessToken fetch() override {
    return request_token(
        options(), {.what = fmt::format("get an access token with {}", describe()),
                    .url = token_uri_,
                    .form = {{"assertion", assertion(options().now())}, {"grant_type", grant}}});
  }

private:
  std::string sign(std::string_view message) const {
    return with_context(fmt::format("could not use {}", describe()),
                        [&] { return rs256_sign(key_.reveal(), message); });
  }

  std::string assertion(std::int64_t now) const {
    json header{{"alg", "RS256"}, {"typ", "JWT"}};
    if (!key_id_.empty()) {
      header["kid"] = key_id_;
    }
    const json claims{{"iss", email_},
                      {"aud", audience},
                      {"scope", scope},
                      {"iat", now},
                      {"exp", now + lifetime}};
    const auto message =
        base64url_encode(write_json(header)) + "." + base64url_encode(write_json(claims));
    return message + "." + base64url_encode(sign(message));
  }

  std::filesystem::path path_;
  std::string email_;
  std::string key_id_;
  Secret key_;
  std::string token_uri_;
  std::string project_;
};

}  // namespace

std::unique_ptr<TokenSource> make_service_account(CredentialOptions options, CredentialsFile file) {
  return std::make_unique<ServiceAccount>(std::move(options), file);
}

}  // namespace autopack::google
