#include "index/access.hpp"

#include "base/contains.hpp"
#include "base/line.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace autopack::index {

namespace {

constexpr int most_redirects{10};
/// Limit for a server's text in a message.
constexpr std::size_t shown_words{200};

std::vector<std::string> remedies(const Url& url, int status) {
  if (is_google_python_host(url.host)) {
    return {"log in with `gcloud auth application-default login`",
            "the account needs the role `roles/artifactregistry.reader` on the repository"};
  }
  if (status == 403) {
    return {fmt::format("ask for permission to read packages on `{}`", url.host)};
  }
  const bool is_plain = url.scheme == "http" && !url.is_loopback();
  return {fmt::format(
      "add a login to pip's index-url (`{}://USER:PASSWORD@{}`), or `machine {}` to ~/.netrc{}",
      url.scheme, url.origin().substr(url.scheme.size() + 3), url.host,
      is_plain ? fmt::format("; over plain HTTP also add `--trusted-host={}`", url.host) : "")};
}

}  // namespace

Access::Access(AccessOptions options)
    : options_{std::move(options)}, logins_{options_.settings, options_.google} {
  if (!options_.sleep) {
    options_.sleep = [cancellation = options_.cancellation](std::chrono::milliseconds time) {
      sleep_unless_cancelled(time, cancellation);
    };
  }
}

http::Request Access::request(const std::string& what, const std::string& url) const {
  return request(what, Location::parse(url));
}

http::Request Access::request(const std::string& what, const Location& place) const {
  auto url = Url::parse(place.url);
  if (!url || (url->scheme != "http" && url->scheme != "https")) {
    throw Error(ErrorKind::usage, fmt::format("cannot {}", what))
        .cause(fmt::format("`{}` is not an http or https URL", printable(redact_url(place.url))));
  }
  http::Request request{.what = what,
                        .url = place.url,
                        .connect_timeout = options_.settings.timeout,
                        .timeout = std::chrono::milliseconds{0},
                        .stall_timeout = options_.settings.timeout,
                        .tls = tls_for(*url),
                        .proxy = options_.settings.proxy.value_or(Secret{}),
                        .max_redirects = most_redirects};
  url->user = place.user.value_or("");
  url->password = place.password.value_or(Secret{}).reveal();
  if (const auto login = logins_.find(*url)) {
    request.headers.push_back({"Authorization", login->reveal()});
  }
  return request;
}

http::Response Access::send(const std::function<http::Request()>& make) const {
  return http::retry([&] { return options_.client->send(make()); }, options_.sleep,
                     {.attempts = options_.settings.retries + 1});
}

Error Access::refusal(const http::Request& request, const http::Response& response) {
  const std::string words{trim(response.body.substr(0, shown_words))};
  const std::string shown = redact_url(response.url.empty() ? request.url : response.url);
  Error error{ErrorKind::remote, fmt::format("could not {}", request.what)};
  error.cause(fmt::format("GET {}: {}{}", shown, response.status,
                          words.empty() ? "" : ": " + printable(single_spaced(words))));
  if (response.status == 401 || response.status == 403) {
    for (const auto& remedy : remedies(*Url::parse(request.url), response.status)) {
      error.hint(remedy);
    }
  } else if (response.status == 404 || response.status == 410) {
    error.hint("the server no longer has this file: make the lock again, or repeat the command");
  }
  return error;
}

bool Access::is_secure(const Url& url) const {
  return url.scheme == "https" || url.scheme == "file" || url.is_loopback() || is_trusted(url);
}

bool Access::is_trusted(const Url& url) const {
  const auto& hosts = options_.settings.trusted_hosts;
  const std::string with_port = url.host + (url.port ? ":" + std::to_string(*url.port) : "");
  return std::ranges::any_of(
      hosts, [&](const std::string& host) { return host == url.host || host == with_port; });
}

http::Tls Access::tls_for(const Url& url) const {
  const auto& settings = options_.settings;
  http::Tls tls{.ca_file = settings.certificates.value_or(""), .ca_for_redirects = true};
  tls.verify = !is_trusted(url);
  const auto is_host_of = [&](const Location& location) {
    const auto known = Url::parse(location.url);
    return known && place_of(*known) == place_of(url);
  };
  if (std::ranges::any_of(settings.indexes, is_host_of)) {
    tls.certificate_file = settings.client_certificate.value_or("");
  }
  return tls;
}

void Access::detail(const std::string& text) const {
  if (options_.reporter != nullptr) {
    options_.reporter->detail(text);
  }
}

void Access::warn(const Problem& problem) const {
  const std::scoped_lock lock{mutex_};
  const bool is_new = !contains(told_, problem.message);
  if (is_new && options_.reporter != nullptr) {
    told_.push_back(problem.message);
    options_.reporter->warn(problem);
  }
}

}  // namespace autopack::index
