#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr auto token_exchange_grant = "urn:ietf:params:oauth:grant-type:token-exchange";
constexpr auto access_token_type = "urn:ietf:params:oauth:token-type:access_token";
/// The scope of a token that is used only to get another account's token.
constexpr auto iam_scope = "https://www.googleapis.com/auth/iam";

bool impersonates(const CredentialsFile& file) {
  return file.content->contains("service_account_impersonation_url") &&
         !(*file.content)["service_account_impersonation_url"].is_null();
}

/// A token of another identity provider, exchanged for a Google token (RFC 8693). Two jobs that
/// share a machine and a file may have different subjects, so the token is not cached between runs.
class ExternalAccount final : public CachingTokenSource {
public:
  ExternalAccount(CredentialOptions options, const CredentialsFile& file)
      : CachingTokenSource{std::move(options)},
        place_{file.place()},
        audience_{file.required("audience")},
        subject_type_{file.required("subject_token_type")},
        token_url_{file.required("token_url")},
        scope_{impersonates(file) ? iam_scope : cloud_platform_scope},
        client_id_{file.optional("client_id")},
        client_secret_{file.optional("client_secret").value_or("")},
        workforce_project_{file.optional("workforce_pool_user_project")},
        quota_project_{file.optional("quota_project_id")},
        subject_{make_subject_token(this->options(), file)} {
    require_google_endpoint(token_url_, fmt::format("`token_url` of {}", place_));
    constexpr auto workforce = "//iam.googleapis.com/locations/";
    if (workforce_project_ && !audience_.starts_with(workforce)) {
      throw file.fault(
          "has a `workforce_pool_user_project`, but its `audience` is not a workforce pool");
    }
  }

  std::string describe() const override { return fmt::format("external account {}", place_); }

  std::optional<std::string> quota_project() const override {
    auto set = CachingTokenSource::quota_project();
    return set ? set : quota_project_;
  }

protected:
  AccessToken fetch() override {
    const auto what = fmt::format("get an access token with {}", describe());
    TokenRequest request{.what = what,
                         .url = token_url_,
                         .form = {{"grant_type", token_exchange_grant},
                                  {"audience", audience_},
                                  {"scope", scope_},
                                  {"requested_token_type", access_token_type},
                                  {"subject_token", with_context("could not " + what,
                                                                 [&] { return subject_->get(); })},
                                  {"subject_token_type", subject_type_}},
                         .tls = subject_->tls()};
    if (client_id_) {
      request.headers = {
          {"Authorization", "Basic " + base64_encode(*client_id_ + ":" + client_secret_.reveal())}};
    } else if (workforce_project_) {
      // Encoded twice: here, and again as part of the form. The service decodes both.
      request.form.emplace_back("options",
                                percent_encode(fmt::format("{{\"userProject\": {}}}",
                                                           write_json(json(*workforce_project_)))));
    }
    return request_token(options(), request);
  }

private:
  std::string place_;
  std::string audience_;
  std::string subject_type_;
  std::string token_url_;
  std::string scope_;
  std::optional<std::string> client_id_;
  Secret client_secret_;
  std::optional<std::string> workforce_project_;
  std::optional<std::string> quota_project_;
  std::unique_ptr<SubjectToken> subject_;
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_external_account(CredentialOptions options,
                                                          const CredentialsFile& file) {
  auto account = std::make_unique<ExternalAccount>(options, file);
  if (!impersonates(file)) {
    return account;
  }
  return make_impersonated(std::move(options), impersonation_of(file), std::move(account));
}

}  // namespace autopack::google
