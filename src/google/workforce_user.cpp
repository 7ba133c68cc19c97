#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

namespace {

/// A person of another identity provider who logged in for a workforce pool: a refresh token that
/// the pool's own endpoint takes.
class WorkforceUser final : public CachingTokenSource {
public:
  WorkforceUser(CredentialOptions options, const CredentialsFile& file)
      : CachingTokenSource{std::move(options)},
        place_{file.place()},
        token_url_{file.required("token_url")},
        client_id_{file.required("client_id")},
        client_secret_{file.required("client_secret")},
        refresh_token_{file.required("refresh_token")},
        quota_project_{file.optional("quota_project_id")} {
    require_google_endpoint(token_url_, fmt::format("`token_url` of {}", place_));
  }

  std::string describe() const override {
    return fmt::format("user credentials of a workforce pool {}", place_);
  }

  std::string quota_project() const override {
    const auto set = CachingTokenSource::quota_project();
    return set.empty() ? quota_project_ : set;
  }

  std::string identity() const override {
    return fmt::format("external_account_authorized_user\n{}\n{}\n{}", token_url_, client_id_,
                       refresh_token_.reveal());
  }

protected:
  AccessToken fetch() override {
    try {
      return request_token(
          options(),
          {.what = fmt::format("get an access token with {}", describe()),
           .url = token_url_,
           .form = {{"grant_type", "refresh_token"}, {"refresh_token", refresh_token_.reveal()}},
           .headers = {{"Authorization",
                        "Basic " + base64_encode(client_id_ + ":" + client_secret_.reveal())}}});
    } catch (const http::TransportError&) {
      throw;
    } catch (Error& error) {
      error.hint("log in again: gcloud auth application-default login --login-config=FILE");
      throw;
    }
  }

private:
  std::string place_;
  std::string token_url_;
  std::string client_id_;
  Secret client_secret_;
  Secret refresh_token_;
  std::string quota_project_;
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_workforce_user(CredentialOptions options,
                                                        const CredentialsFile& file) {
  return std::make_unique<WorkforceUser>(std::move(options), file);
}

}  // namespace autopack::google
