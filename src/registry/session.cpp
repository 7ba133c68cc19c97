#include "registry/session.hpp"

#include "base/text.hpp"
#include "base/url.hpp"
#include "registry/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <thread>

namespace autopack::registry {

namespace {

using std::chrono::milliseconds;

/// Docker's library is not served from the host that names it.
constexpr std::string_view hub_host = "registry-1.docker.io";

std::function<void(milliseconds)> real_sleep(const Cancellation* cancellation) {
  return [cancellation](milliseconds time) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
      if (cancellation != nullptr) {
        cancellation->throw_if_requested();
      }
      std::this_thread::sleep_for(std::min<Clock::duration>(milliseconds{50}, end - Clock::now()));
    }
  };
}

}  // namespace

Session::Session(const std::string& host,
                 std::string path,
                 Access access,
                 RepositoryOptions options)
    : host_{host},
      path_{std::move(path)},
      options_{std::move(options)},
      login_{host, options_.credentials, [this](const http::Request& request) {
               return repeat([&] { return options_.client->send(request); });
             }} {
  login_.add_scope("repository:" + path_ + (access == Access::push ? ":pull,push" : ":pull"));
  if (!options_.sleep) {
    options_.sleep = real_sleep(options_.cancellation);
  }
}

std::string Session::find_origin() {
  const std::string host = host_ == "docker.io" ? std::string{hub_host} : host_;
  const auto url = Url::parse("http://" + host);
  if (!url) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not a registry host", printable(host)));
  }
  if (!url->is_loopback()) {
    return "https://" + host;
  }
  // On loopback plain HTTP is usual; a server of TLS answers 400 to it, or closes.
  try {
    const int status =
        options_.client->send({.url = "http://" + host + "/v2/", .tls = options_.tls}).status;
    return (status == 400 ? "https://" : "http://") + host;
  } catch (const http::TransportError& error) {
    const bool spoke = error.reason() == http::TransportError::Reason::reset ||
                       error.reason() == http::TransportError::Reason::protocol;
    return (spoke ? "https://" : "http://") + host;
  }
}

std::string Session::origin() {
  const std::scoped_lock lock{mutex_};
  if (origin_.empty()) {
    origin_ = find_origin();
  }
  return origin_;
}

std::string Session::root() {
  return origin() + "/v2/";
}

std::string Session::url(std::string_view rest) {
  return root() + path_ + "/" + std::string{rest};
}

std::string Session::locate(const std::string& base, const std::string& location) {
  const auto from = Url::parse(base);
  if (location.starts_with('/') && !location.starts_with("//")) {
    return from->origin() + location;
  }
  auto to = Url::parse(location);
  // A registry behind a proxy that ends TLS often does not know that it is https.
  if (to && to->scheme == "http" && from->scheme == "https" && to->host == from->host) {
    to->scheme = "https";
  }
  const bool plain_is_fine = to && to->is_loopback() && from->scheme == "http";
  if (!to || (to->scheme != "https" && !(to->scheme == "http" && plain_is_fine))) {
    throw Error(ErrorKind::remote,
                fmt::format("the registry `{}` sends the upload to `{}`, which is refused", host_,
                            printable(redact_url(location))));
  }
  return to->origin() + to->path + (to->query.empty() ? "" : "?" + to->query);
}

void Session::also_pull(const std::string& path) {
  login_.add_scope("repository:" + path + ":pull");
}

http::Response Session::try_once(http::Request request) {
  const std::string own = origin();
  const auto url = Url::parse(request.url);
  if (!url || url->origin() != own) {
    return options_.client->send(request);
  }
  request.tls = options_.tls;
  const auto plain = request.headers;
  const auto send_with = [&](const std::string& authorization) {
    request.headers = plain;
    if (!authorization.empty()) {
      request.headers.push_back({"Authorization", authorization});
    }
    return options_.client->send(request);
  };
  const std::string used = login_.authorization();
  http::Response response = send_with(used);
  const bool renewed = response.status == 401 && login_.renew(used, response, *Url::parse(own));
  return renewed && !request.read_body ? send_with(login_.authorization()) : response;
}

http::Response Session::repeat(const std::function<http::Response()>& try_it) const {
  return http::retry(try_it, options_.sleep, options_.retries);
}

http::Response Session::send(const http::Request& request) {
  return repeat([&] { return try_once(request); });
}

bool Session::pause(const http::Attempt& attempt) {
  std::random_device device;
  const double random = std::uniform_real_distribution<>{}(device);
  const auto delay = http::retry_delay(attempt, random, std::time(nullptr), options_.retries);
  if (delay) {
    options_.sleep(*delay);
  }
  return delay.has_value();
}

bool Session::make_missing(const std::string& code) {
  if (code != "NAME_UNKNOWN" || !options_.make_missing) {
    return false;
  }
  // Several layers may find it missing at once.
  const std::scoped_lock lock{making_};
  made_ = made_ || options_.make_missing();
  return made_;
}

void Session::refuse(const http::Request& request, const http::Response& response) const {
  throw refused({.what = request.what,
                 .method = request.method,
                 .url = request.url,
                 .host = host_,
                 .path = path_,
                 .response = &response,
                 .login = login_.credential()});
}

}  // namespace autopack::registry
