#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api_error.hpp"
#include "google/timestamp.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr auto verb = ":generateAccessToken";
constexpr auto account_prefix = "projects/-/serviceAccounts/";
constexpr std::int64_t shortest_lifetime = 600;
constexpr std::int64_t longest_lifetime = 43200;

/// Returns the name of a delegate in the form of generateAccessToken.
std::string as_resource(const std::string& account) {
  return account.starts_with("projects/") ? account : account_prefix + account;
}

Error refusal(const Impersonation& target,
              const http::Request& request,
              const http::Response& response) {
  const auto answer = read_api_error(response);
  auto error = Error(ErrorKind::remote, "could not " + request.what)
                   .cause(describe(answer, request.method, request.url));
  if (!answer.message.empty()) {
    error.cause(answer.message);
  }
  if (answer.reason == "SERVICE_DISABLED") {
    return error.hint("switch the API on: gcloud services enable iamcredentials.googleapis.com");
  }
  if (response.status == 403) {
    error.hint(fmt::format(
        "let yourself act as the account: gcloud iam service-accounts add-iam-policy-binding {} "
        "--member=user:YOU --role=roles/iam.serviceAccountTokenCreator",
        shell_quote(target.account())));
  } else if (response.status == 404) {
    error.hint("is its name right? gcloud iam service-accounts list");
  }
  return error;
}

class Impersonated final : public CachingTokenSource {
public:
  Impersonated(CredentialOptions options,
               Impersonation target,
               std::unique_ptr<CachingTokenSource> source,
               std::optional<std::string> quota_project)
      : CachingTokenSource{std::move(options)},
        target_{std::move(target)},
        source_{std::move(source)},
        quota_project_{std::move(quota_project)} {}

  std::string describe() const override {
    return fmt::format("service account `{}`, impersonated ({}) with {}", target_.account(),
                       target_.origin, source_->describe());
  }

  std::optional<std::string> project() const override { return source_->project(); }

  std::optional<std::string> quota_project() const override {
    auto set = CachingTokenSource::quota_project();
    if (set) {
      return set;
    }
    return quota_project_ ? quota_project_ : source_->quota_project();
  }

  std::optional<std::string> identity() const override {
    const auto of_source = source_->identity();
    if (!of_source) {
      return std::nullopt;
    }
    return fmt::format("impersonated\n{}\n{}\n{}\n{}", target_.url, join(target_.delegates, ","),
                       target_.lifetime, *of_source);
  }

protected:
  AccessToken fetch() override {
    auto request = this->request();
    auto response = send(request);
    // a cached token may have been revoked since
    if (response.status == 401) {
      source_->expire();
      response = send(request);
    }
    if (!response.ok()) {
      throw refusal(target_, request, response);
    }
    const auto answer = parse_json(response.body);
    const auto token = text_at(answer, "accessToken");
    const auto end = Timestamp::parse(text_at(answer, "expireTime"));
    if (token.empty() || !end) {
      throw Error(ErrorKind::remote, "could not " + request.what)
          .cause(fmt::format("POST {}: the response has no access token with an expiry time",
                             redact_url(request.url)));
    }
    return {.token = Secret{token}, .expires_at = end->seconds};
  }

private:
  http::Request request() const {
    json delegates;  // null when there are none, as Google's own libraries send it
    for (const auto& delegate : target_.delegates) {
      delegates.push_back(as_resource(delegate));
    }
    return {.what = fmt::format("get an access token of `{}` with {}", target_.account(),
                                source_->describe()),
            .method = "POST",
            .url = target_.url,
            .headers = {{"Content-Type", "application/json"}},
            .body = write_json(json{{"delegates", delegates},
                                    {"scope", json::array({cloud_platform_scope})},
                                    {"lifetime", fmt::format("{}s", target_.lifetime)}})};
  }

  http::Response send(http::Request request) const {
    request.headers.push_back({"Authorization", "Bearer " + source_->token().token.reveal()});
    return send_patiently(options(), request);
  }

  Impersonation target_;
  std::unique_ptr<CachingTokenSource> source_;
  std::optional<std::string> quota_project_;
};

bool is_service_account(std::string_view text) {
  return text.find('@') != std::string_view::npos && text.size() < 300 &&
         is_alphanumeric(text, "-_.@:");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() < 40 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string endpoint(const CredentialOptions& options) {
  const auto set = find_endpoint("iamcredentials", *options.environment, options.configuration);
  if (!set.value) {
    return "https://iamcredentials.googleapis.com/";
  }
  require_google_endpoint(*set.value, set.origin);
  return set.value->ends_with('/') ? *set.value : *set.value + "/";
}

std::vector<std::string> delegates_of(const CredentialsFile& file) {
  std::vector<std::string> delegates;
  const auto found = file.content->find("delegates");
  if (found == file.content->end() || found->is_null()) {
    return delegates;
  }
  if (!found->is_array()) {
    throw file.fault("has `delegates` that are not a list");
  }
  for (const auto& delegate : *found) {
    if (!delegate.is_string()) {
      throw file.fault("has `delegates` that are not accounts");
    }
    delegates.push_back(delegate.get<std::string>());
  }
  return delegates;
}

std::int64_t lifetime_of(const CredentialsFile& file) {
  const auto settings = file.content->find("service_account_impersonation");
  if (settings == file.content->end() || !settings->is_object() ||
      !settings->contains("token_lifetime_seconds")) {
    return Impersonation{}.lifetime;
  }
  const auto& value = (*settings)["token_lifetime_seconds"];
  if (!value.is_number_integer() || value.get<std::int64_t>() < shortest_lifetime ||
      value.get<std::int64_t>() > longest_lifetime) {
    throw file.fault(fmt::format("has a `token_lifetime_seconds` that is not between {} and {}",
                                 shortest_lifetime, longest_lifetime));
  }
  return value.get<std::int64_t>();
}

}  // namespace

std::string Impersonation::account() const {
  const auto begin = url.rfind('/') + 1;
  return url.substr(begin, url.size() - begin - std::string_view{verb}.size());
}

std::unique_ptr<CachingTokenSource> make_impersonated(CredentialOptions options,
                                                      Impersonation target,
                                                      std::unique_ptr<CachingTokenSource> source) {
  return std::make_unique<Impersonated>(std::move(options), std::move(target), std::move(source),
                                        std::nullopt);
}

Impersonation parse_impersonation(const CredentialOptions& options) {
  Impersonation target{.origin = options.impersonate.origin};
  for (const auto& part : split(options.impersonate.value.value(), ',')) {
    const std::string account{trim(part)};
    if (!is_service_account(account) && !is_number(account)) {
      throw Error(ErrorKind::usage, fmt::format("`{}` in {} is not a service account",
                                                printable(account.substr(0, 200)), target.origin))
          .hint("an account is NAME@PROJECT.iam.gserviceaccount.com; several have commas between");
    }
    target.delegates.push_back(account);
  }
  target.url =
      fmt::format("{}v1/{}{}{}", endpoint(options), account_prefix, target.delegates.back(), verb);
  target.delegates.pop_back();
  return target;
}

Impersonation impersonation_of(const CredentialsFile& file) {
  constexpr auto key = "service_account_impersonation_url";
  Impersonation target{.url = file.required(key),
                       .delegates = delegates_of(file),
                       .lifetime = lifetime_of(file),
                       .origin = fmt::format("`{}`", key)};
  require_google_endpoint(target.url, fmt::format("`{}` of {}", key, file.place()));
  if (!target.url.ends_with(verb)) {
    throw file.fault(fmt::format("has a `{}` that does not end in `{}`", key, verb));
  }
  return target;
}

std::unique_ptr<CachingTokenSource> make_impersonated_file(CredentialOptions options,
                                                           const CredentialsFile& file) {
  const auto found = file.content->find("source_credentials");
  if (found == file.content->end() || !found->is_object()) {
    throw file.fault("has no `source_credentials`");
  }
  CredentialsFile inner{.path = file.path,
                        .origin = "`source_credentials`" + (file.origin ? ", " + *file.origin : ""),
                        .content = std::make_shared<const json>(*found)};
  if (inner.optional("type") == "impersonated_service_account") {
    throw file.fault("impersonates with an impersonated account")
        .hint("name the accounts between in `delegates`");
  }
  auto target = impersonation_of(file);
  auto source = make_from_file(options, inner);
  return std::make_unique<Impersonated>(std::move(options), std::move(target), std::move(source),
                                        file.optional("quota_project_id"));
}

}  // namespace autopack::google
