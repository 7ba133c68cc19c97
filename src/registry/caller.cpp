#include "registry/caller.hpp"

#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/url.hpp"
#include "registry/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <random>

namespace autopack::registry {

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
