#include "registry/login.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "registry/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::registry {

namespace {

using Clock = std::chrono::steady_clock;

/// The specification's default if a token server does not state a lifetime.
constexpr std::int64_t default_lifetime = 60;

std::string basic(const Credential& credential) {
  return "Basic " + base64_encode(credential.username + ":" + credential.password.reveal());
}

std::chrono::seconds usable_time(const nlohmann::json& answer) {
  constexpr double longest = 86'400;
  const auto found = answer.find("expires_in");
  const auto seconds =
      found != answer.end() && found->is_number()
          ? static_cast<std::int64_t>(std::clamp(found->get<double>(), 0.0, longest))
          : default_lifetime;
  return std::chrono::seconds{std::max(seconds - 10, seconds / 2)};
}

std::optional<std::string> token_in(const nlohmann::json& answer) {
  for (const char* name : {"token", "access_token"}) {
    // Some servers send both, and leave the unused one empty.
    if (answer.is_object() && answer.contains(name) && answer[name].is_string() &&
        !answer[name].get_ref<const std::string&>().empty()) {
      return answer[name].get<std::string>();
    }
  }
  return std::nullopt;
}

}  // namespace

Login::Login(std::string host, CredentialSource source, Send send)
    : host_{std::move(host)}, source_{std::move(source)}, send_{std::move(send)} {}

void Login::add_scope(const std::string& scope) {
  const std::scoped_lock lock{mutex_};
  if (!contains(scopes_, scope)) {
    scopes_.push_back(scope);
  }
}

std::optional<std::string> Login::header() const {
  return header_ ? std::optional{header_->reveal()} : std::nullopt;
}

std::optional<std::string> Login::authorization() {
  const std::scoped_lock lock{mutex_};
  if (bearer_ && (Clock::now() >= expires_ || granted_ != scopes_)) {
    // A cloud's token may have expired since, so look up the login again, too.
    credential_ = source_ ? source_(host_) : std::nullopt;
    fetch_token();
  }
  return header();
}

std::optional<Credential> Login::credential() const {
  const std::scoped_lock lock{mutex_};
  return credential_;
}

bool Login::renew(const std::optional<std::string>& used,
                  const http::Response& answer,
                  const Url& registry) {
  const std::scoped_lock lock{mutex_};
  if (header() != used) {
    return true;  // another thread was faster
  }
  const auto challenge = choose_challenge(answer);
  if (!challenge) {
    return false;
  }
  if (used) {
    forget_credential();
  }
  credential_ = source_ ? source_(host_) : std::nullopt;
  if (credential_ && !credential_->registry_token.empty()) {
    header_ = Secret{"Bearer " + credential_->registry_token.reveal()};
  } else if (challenge->scheme == "bearer") {
    realm_ = challenge->get("realm").value_or("");
    check_realm(registry, realm_);
    if (const auto scope = challenge->get("scope")) {
      const std::string resource = scope->substr(0, scope->rfind(':') + 1);
      const bool covered = std::ranges::any_of(
          scopes_, [&](const std::string& own) { return own.starts_with(resource); });
      if (!covered) {
        scopes_.push_back(*scope);
      }
    }
    bearer_ = challenge;
    fetch_token();
  } else if (credential_ && !credential_->username.empty()) {
    header_ = Secret{basic(*credential_)};
  }
  return header() != used;
}

http::Request Login::token_request() const {
  const auto service = bearer_->get("service");
  http::Request request{
      .what = fmt::format("sign in to `{}`", host_), .url = realm_, .max_redirects = max_redirects};
  if (credential_ && !credential_->identity_token.empty()) {
    request.method = "POST";
    request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
    request.body = "grant_type=refresh_token&client_id=autopack&service=" +
                   percent_encode(service.value_or("")) +
                   "&scope=" + percent_encode(join(scopes_, " ")) +
                   "&refresh_token=" + percent_encode(credential_->identity_token.reveal());
    return request;
  }
  char separator = realm_.find('?') == std::string::npos ? '?' : '&';
  const auto add = [&](const char* name, const std::string& value) {
    request.url += separator + std::string{name} + "=" + percent_encode(value);
    separator = '&';
  };
  if (service) {
    add("service", *service);
  }
  for (const auto& scope : scopes_) {
    add("scope", scope);
  }
  if (credential_ && !credential_->username.empty()) {
    request.headers = {{"Authorization", basic(*credential_)}};
  }
  return request;
}

void Login::forget_credential() {
  if (credential_ && credential_->forget) {
    credential_->forget();
  }
}

/// Asks again with a new login if the realm refuses this one.
http::Response Login::ask_realm(const http::Request& request) {
  http::Response response = send_(request);
  if (response.status != 401 || !credential_ || !credential_->forget) {
    return response;
  }
  forget_credential();
  const std::string refused = credential_->password.reveal();
  auto other = source_(host_);
  if (!other || other->password.reveal() == refused) {
    return response;
  }
  credential_ = std::move(other);
  return send_(token_request());
}

void Login::fetch_token() {
  const http::Request request = token_request();
  const http::Response response = ask_realm(request);
  if (!response.ok() && scopes_.size() > 1) {
    // the denied scope may be an optional one (for mounting blobs of another repository)
    scopes_.resize(1);
    fetch_token();
    return;
  }
  if (!response.ok()) {
    throw refused({.what = request.what,
                   .method = request.method,
                   .url = request.url,
                   .host = host_,
                   .response = &response,
                   .login = credential_});
  }
  const auto answer = parse_json(response.body);
  const auto token = token_in(answer);
  if (!token) {
    throw Error(ErrorKind::remote, "could not " + request.what)
        .cause(
            fmt::format("{} {}: the answer has no token", request.method, redact_url(request.url)));
  }
  header_ = Secret{"Bearer " + *token};
  granted_ = scopes_;
  expires_ = Clock::now() + usable_time(answer);
}

}  // namespace autopack::registry
