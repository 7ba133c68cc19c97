#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

namespace {

class AuthorizedUser final : public CachingTokenSource {
public:
  AuthorizedUser(CredentialOptions options, const CredentialsFile& file)
      : CachingTokenSource{std::move(options)},
        place_{file.place()},
        client_id_{file.required("client_id")},
        client_secret_{file.required("client_secret")},
        refresh_token_{file.required("refresh_token")},
        quota_project_{file.optional("quota_project_id")} {
    if (const auto host = this->options().environment->get("CLOUDSDK_AUTH_TOKEN_HOST")) {
      require_google_endpoint(*host, "`CLOUDSDK_AUTH_TOKEN_HOST`");
      endpoint_ = *host;
    }
  }

  std::string describe() const override { return fmt::format("user credentials {}", place_); }

  std::string quota_project() const override {
    const auto set = CachingTokenSource::quota_project();
    return set.empty() ? quota_project_ : set;
  }

  std::string identity() const override {
    return fmt::format("authorized_user\n{}\n{}\n{}", endpoint_, client_id_,
                       refresh_token_.reveal());
  }

protected:
  AccessToken fetch() override {
    try {
      return request_token(options(),
                           {.what = fmt::format("get an access token with {}", describe()),
                            .url = endpoint_,
                            .form = {{"grant_type", "refresh_token"},
                                     {"client_id", client_id_},
                                     {"client_secret", client_secret_.reveal()},
                                     {"refresh_token", refresh_token_.reveal()}}});
    } catch (const http::TransportError&) {
      throw;
    } catch (Error& error) {
      error.hint("log in again: gcloud auth application-default login");
      throw;
    }
  }

private:
  std::string place_;
  std::string client_id_;
  Secret client_secret_;
  Secret refresh_token_;
  std::string quota_project_;
  std::string endpoint_{"https://oauth2.googleapis.com/token"};
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_authorized_user(CredentialOptions options,
                                                         const CredentialsFile& file) {
  return std::make_unique<AuthorizedUser>(std::move(options), file);
}

}  // namespace autopack::google
