#include "registry/caller.hpp"

#include "base/contains.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/url.hpp"
#include "registry/refusal.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <exception>
#include <random>

namespace autopack::registry {

namespace {

/// Parses a header's text from left to right.
class Scanner {
public:
  explicit Scanner(std::string_view text) : rest_{text} {}

  bool at_end() {
    const auto start = rest_.find_first_not_of(" \t,");
    rest_ = start == std::string_view::npos ? std::string_view{} : rest_.substr(start);
    return rest_.empty();
  }

  std::string token() {
    const auto end = std::min(rest_.find_first_of(" \t,=\""), rest_.size());
    std::string text{rest_.substr(0, end)};
    rest_.remove_prefix(end);
    return text;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  std::string value() {
    if (!take('"')) {
      return token();
    }
    std::string text;
    while (!rest_.empty() && !take('"')) {
      take('\\');
      if (!rest_.empty()) {
        text += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    return text;
  }

private:
  std::string_view rest_;
};

bool is_internal_v4(std::uint32_t address) {
  struct Range {
    std::uint32_t network;
    unsigned bits;
  };

  static constexpr std::array ranges{
      Range{0x00000000, 8},  Range{0x0A000000, 8},  Range{0x64400000, 10}, Range{0x7F000000, 8},
      Range{0xA9FE0000, 16}, Range{0xAC100000, 12}, Range{0xC0A80000, 16},
  };
  return std::ranges::any_of(ranges, [&](const Range& range) {
    return address >> (32 - range.bits) == range.network >> (32 - range.bits);
  });
}

bool is_internal_v6(const in6_addr& address) {
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &address, bytes.size());
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    std::uint32_t inner = 0;
    std::memcpy(&inner, bytes.data() + 12, sizeof inner);
    return is_internal_v4(ntohl(inner));
  }
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) ||
         (bytes[0] & 0xFEU) == 0xFC || (bytes[0] == 0xFE && (bytes[1] & 0xC0U) == 0x80);
}

}  // namespace

std::optional<std::string> Challenge::get(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::nullopt : non_empty(found->second);
}

std::vector<Challenge> parse_challenges(std::string_view text) {
  std::vector<Challenge> challenges;
  Scanner scanner{text};
  while (!scanner.at_end()) {
    const std::string name = to_lower(scanner.token());
    if (scanner.take('=')) {
      if (!challenges.empty()) {
        challenges.back().parameters[name] = scanner.value();
      } else {
        scanner.value();
      }
    } else if (!name.empty()) {
      challenges.push_back({.scheme = name});
    } else {
      scanner.value();
    }
  }
  return challenges;
}

std::optional<Challenge> choose_challenge(const http::Response& response) {
  std::optional<Challenge> basic;
  for (const auto& [name, value] : response.headers) {
    if (to_lower(name) != "www-authenticate") {
      continue;
    }
    for (auto& challenge : parse_challenges(value)) {
      if (challenge.scheme == "bearer") {
        return challenge;
      }
      if (challenge.scheme == "basic") {
        basic = std::move(challenge);
      }
    }
  }
  return basic;
}

bool is_internal_host(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_aton(host.c_str(), &v4) != 0) {
    return is_internal_v4(ntohl(v4.s_addr));
  }
  if (::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &v6) == 1) {
    return is_internal_v6(v6);
  }
  std::string name = to_lower(host);
  if (name.ends_with('.')) {
    name.pop_back();
  }
  return name == "localhost" || name.ends_with(".localhost") ||
         name == "metadata.google.internal" || name == "metadata";
}

Url check_realm(const Url& registry, const std::string& realm) {
  const auto url = Url::parse(realm);
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorKind::remote,
                 fmt::format("the registry `{}` asks for the login at `{}`, which is not allowed",
                             registry.host, printable(redact_url(realm))))
        .cause(why);
  };
  if (!url || (url->scheme != "https" && url->scheme != "http")) {
    throw refuse("it is not an http URL");
  }
  if (!url->user.empty() || !url->password.empty()) {
    throw refuse("it contains a login");
  }
  if (url->scheme == "http" && !(url->is_loopback() && registry.scheme == "http")) {
    throw refuse("a login is never sent over plain HTTP");
  }
  if (url->host != registry.host && is_internal_host(url->host) &&
      !is_internal_host(registry.host)) {
    throw refuse("it is an address inside this network, but the registry is outside");
  }
  return *url;
}

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

namespace {

using std::chrono::milliseconds;

/// True for the errors with which a TLS server reacts to plain HTTP, if it does not answer.
bool is_of_tls(const http::TransportError& error) {
  return error.reason() == http::TransportError::Reason::reset ||
         error.reason() == http::TransportError::Reason::protocol;
}

/// Docker Hub serves images from another host than `docker.io`.
constexpr std::string_view hub_host = "registry-1.docker.io";

/// Returns a source that asks `source` for the repository at `path` instead of its host.
CredentialSource for_path(CredentialSource source, const std::string& path) {
  if (!source) {
    return source;
  }
  return [source = std::move(source), path](const std::string& host) {
    return source(host + "/" + path);
  };
}

}  // namespace

Caller::Caller(const std::string& host, std::string path, Access access, RepositoryOptions options)
    : host_{host},
      path_{std::move(path)},
      options_{std::move(options)},
      login_{host, for_path(options_.credentials, path_), [this](const http::Request& request) {
               return repeat([&] { return options_.client->send(request); });
             }} {
  login_.add_scope("repository:" + path_ + (access == Access::push ? ":pull,push" : ":pull"));
  if (!options_.sleep) {
    options_.sleep = [cancellation = options_.cancellation](milliseconds time) {
      sleep_unless_cancelled(time, cancellation);
    };
  }
}

/// Loopback registries usually speak plain HTTP. A TLS server answers 400 to it, or closes the
/// connection. Returns nothing if the server closed the connection and does not answer TLS either;
/// a later try may succeed.
std::optional<std::string> Caller::find_origin() {
  const std::string place = "://" + host_;
  try {
    const int status =
        options_.client->send({.url = "http" + place + "/v2/", .tls = options_.tls}).status;
    return (status == 400 ? "https" : "http") + place;
  } catch (const http::TransportError& error) {
    if (!is_of_tls(error)) {
      return "http" + place;
    }
  }
  http::Tls tls = options_.tls;
  // this checks only whether it speaks TLS; later requests verify the certificate
  tls.verify = false;
  try {
    options_.client->send({.url = "https" + place + "/v2/", .tls = tls});
    return "https" + place;
  } catch (const http::TransportError&) {
    return std::nullopt;
  }
}

std::string Caller::origin() {
  const std::scoped_lock lock{mutex_};
  if (!origin_) {
    const std::string host = host_ == "docker.io" ? std::string{hub_host} : host_;
    const auto url = Url::parse("http://" + host);
    if (!url) {
      throw Error(ErrorKind::usage, fmt::format("`{}` is not a registry host", printable(host)));
    }
    settled_ = !url->is_loopback();
    origin_ = (settled_ ? "https://" : "http://") + host;
  }
  return *origin_;
}

/// Returns `url` with the current origin: it may be older than the discovery that the registry
/// speaks TLS.
std::string Caller::at_origin(const std::string& url) {
  const std::string own = origin();
  const std::string plain = "http://" + host_ + "/";
  return own.starts_with("https://") && url.starts_with(plain)
             ? own + "/" + url.substr(plain.size())
             : url;
}

std::string Caller::root() {
  return origin() + "/v2/";
}

std::string Caller::url(std::string_view rest) {
  return root() + path_ + "/" + std::string{rest};
}

std::string Caller::locate(const std::string& base, const std::string& location) {
  const auto from = Url::parse(at_origin(base));
  if (location.starts_with('/') && !location.starts_with("//")) {
    return from->origin() + location;
  }
  auto to = Url::parse(location);
  // A registry behind a proxy that terminates TLS often does not know that its clients use https.
  if (to && to->scheme == "http" && from->scheme == "https" && to->host == from->host) {
    to->scheme = "https";
  }
  const bool plain_is_fine = to && to->is_loopback() && from->scheme == "http";
  if (!to || (to->scheme != "https" && !(to->scheme == "http" && plain_is_fine))) {
    throw Error(ErrorKind::remote,
                fmt::format("the registry `{}` redirects the upload to `{}`, which is not allowed",
                            host_, printable(redact_url(location))));
  }
  return to->origin() + to->path + (to->query.empty() ? "" : "?" + to->query);
}

void Caller::also_pull(const std::string& path) {
  login_.add_scope("repository:" + path + ":pull");
}

http::Response Caller::try_once(http::Request request) {
  request.url = at_origin(request.url);
  return settled_ || request.read_body ? exchange(std::move(request)) : settle(request);
}

/// The first requests go out as plain HTTP, and show whether the server speaks it.
http::Response Caller::settle(const http::Request& request) {
  std::exception_ptr failure;
  http::Response response;
  try {
    response = exchange(request);
    if (response.status != 400) {
      settled_ = true;
      return response;
    }
  } catch (const http::TransportError& error) {
    if (!is_of_tls(error)) {
      throw;
    }
    failure = std::current_exception();
  }
  {
    const std::scoped_lock lock{mutex_};
    if (!settled_) {
      if (auto found = find_origin()) {
        origin_ = std::move(found);
        settled_ = true;
      }
    }
  }
  http::Request again = request;
  again.url = at_origin(request.url);
  if (again.url != request.url) {
    return exchange(std::move(again));
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
  return response;
}

http::Response Caller::exchange(http::Request request) {
  const std::string own = origin();
  const auto url = Url::parse(request.url);
  if (!url || url->origin() != own) {
    return options_.client->send(request);
  }
  request.tls = options_.tls;
  const auto plain = request.headers;
  const auto send_with = [&](const std::optional<std::string>& authorization) {
    request.headers = plain;
    if (authorization) {
      request.headers.push_back({"Authorization", *authorization});
    }
    return options_.client->send(request);
  };
  const auto used = login_.authorization();
  http::Response response = send_with(used);
  const bool renewed = response.status == 401 && login_.renew(used, response, *Url::parse(own));
  return renewed && !request.read_body ? send_with(login_.authorization()) : response;
}

http::Response Caller::repeat(const std::function<http::Response()>& try_it) const {
  return http::retry(try_it, options_.sleep, options_.retries);
}

http::Response Caller::send(const http::Request& request) {
  try {
    return repeat([&] { return try_once(request); });
  } catch (http::TransportError& error) {
    using Reason = http::TransportError::Reason;
    if (error.reason() == Reason::resolve || error.reason() == Reason::connect) {
      error.hint(
          fmt::format("check that `{}` is the right registry and can be reached from here: a proxy "
                      "or a firewall may block it",
                      host_));
    }
    throw;
  }
}

bool Caller::pause(const http::Attempt& attempt, int more_tries) const {
  http::RetryLimits limits = options_.retries;
  limits.attempts += more_tries;
  std::random_device device;
  const double random = std::uniform_real_distribution<>{}(device);
  const auto delay = http::retry_delay(attempt, random, std::time(nullptr), limits);
  if (delay) {
    options_.sleep(*delay);
  }
  return delay.has_value();
}

bool Caller::make_missing(const std::optional<std::string>& code) {
  if (code != "NAME_UNKNOWN" || !options_.make_missing) {
    return false;
  }
  // Several layers may find it missing at the same time.
  const std::scoped_lock lock{making_};
  made_ = made_ || options_.make_missing();
  return made_;
}

void Caller::refuse(const http::Request& request, const http::Response& response) const {
  throw refused({.what = request.what,
                 .method = request.method,
                 .url = request.url,
                 .host = host_,
                 .path = path_,
                 .response = &response,
                 .login = login_.credential()});
}

}  // namespace autopack::registry
