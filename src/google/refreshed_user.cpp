#include "base/text.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

namespace {

/// A person who logged in once and has a refresh token.
class RefreshedUser : public CachingTokenSource {
public:
  RefreshedUser(CredentialOptions options, const CredentialsFile& file)
      : CachingTokenSource{std::move(options)},
        place_{file.place()},
        client_id_{file.required("client_id")},
        client_secret_{file.required("client_secret")},
        refresh_token_{file.required("refresh_token")},
        quota_project_{file.optional("quota_project_id")} {}

  std::optional<std::string> quota_project() const override {
    auto set = CachingTokenSource::quota_project();
    return set ? set : quota_project_;
  }

protected:
  const std::string& place() const { return place_; }

  const std::string& client_id() const { return client_id_; }

  const Secret& client_secret() const { return client_secret_; }

  const Secret& refresh_token() const { return refresh_token_; }

  /// Returns a text that distinguishes these credentials, used at `endpoint`, from others.
  std::string identity_at(std::string_view kind, const std::string& endpoint) const {
    return fmt::format("{}\n{}\n{}\n{}", kind, endpoint, client_id_, refresh_token_.reveal());
  }

  /// Returns the token for `request`; `login` is the command that creates new credentials.
  AccessToken refresh(const TokenRequest& request, const char* login) {
    try {
      return request_token(options(), request);
    } catch (const http::TransportError&) {
      throw;
    } catch (Error& error) {
      error.hint(fmt::format("log in again: {}", login));
      throw;
    }
  }

private:
  std::string place_;
  std::string client_id_;
  Secret client_secret_;
  Secret refresh_token_;
  std::optional<std::string> quota_project_;
};

/// A Google account.
class AuthorizedUser final : public RefreshedUser {
public:
  AuthorizedUser(CredentialOptions options, const CredentialsFile& file)
      : RefreshedUser{std::move(options), file} {
    if (const auto host = this->options().environment->get("CLOUDSDK_AUTH_TOKEN_HOST")) {
      require_google_endpoint(*host, "`CLOUDSDK_AUTH_TOKEN_HOST`");
      endpoint_ = *host;
    }
  }

  std::string describe() const override { return fmt::format("user credentials {}", place()); }

  std::optional<std::string> identity() const override {
    return identity_at("authorized_user", endpoint_);
  }

protected:
  AccessToken fetch() override {
    return refresh({.what = fmt::format("get an access token with {}", describe()),
                    .url = endpoint_,
                    .form = {{"grant_type", "refresh_token"},
                             {"client_id", client_id()},
                             {"client_secret", client_secret().reveal()},
                             {"refresh_token", refresh_token().reveal()}}},
                   "gcloud auth application-default login");
  }

private:
  std::string endpoint_{"https://oauth2.googleapis.com/token"};
};

/// An account of another identity provider, in a workforce pool. Its own endpoint accepts the
/// refresh token.
class WorkforceUser final : public RefreshedUser {
public:
  WorkforceUser(CredentialOptions options, const CredentialsFile& file)
      : RefreshedUser{std::move(options), file}, token_url_{file.required("token_url")} {
    require_google_endpoint(token_url_, fmt::format("`token_url` of {}", place()));
  }

  std::string describe() const override {
    return fmt::format("user credentials of a workforce pool {}", place());
  }

  std::optional<std::string> identity() const override {
    return identity_at("external_account_authorized_user", token_url_);
  }

protected:
  AccessToken fetch() override {
    const auto login = base64_encode(client_id() + ":" + client_secret().reveal());
    return refresh(
        {.what = fmt::format("get an access token with {}", describe()),
         .url = token_url_,
         .form = {{"grant_type", "refresh_token"}, {"refresh_token", refresh_token().reveal()}},
         .headers = {{"Authorization", "Basic " + login}}},
        "gcloud auth application-default login --login-config=FILE");
  }

private:
  std::string token_url_;
};

}  // namespace

std::unique_ptr<CachingTokenSource> make_authorized_user(CredentialOptions options,
                                                         const CredentialsFile& file) {
  return std::make_unique<AuthorizedUser>(std::move(options), file);
}

std::unique_ptr<CachingTokenSource> make_workforce_user(CredentialOptions options,
                                                        const CredentialsFile& file) {
  return std::make_unique<WorkforceUser>(std::move(options), file);
}

}  // namespace autopack::google
