#include "index/logins.hpp"

#include "base/netrc.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::index {

namespace {

Secret basic(const std::string& user, const std::string& password) {
  return Secret{"Basic " + base64_encode(user + ":" + password)};
}

}  // namespace

bool is_google_python_host(const std::string& host) {
  return to_lower(host).ends_with("-python.pkg.dev");
}

std::string place_of(const Url& url) {
  Url whole = url;
  whole.port = url.port.value_or(url.scheme == "https" ? 443 : 80);
  return whole.origin();
}

Logins::Logins(const IndexSettings& settings, GoogleToken google)
    : settings_{settings}, google_{std::move(google)} {}

std::optional<Secret> Logins::find(const Url& url) const {
  if (!url.user.empty() && !url.password.empty()) {
    return basic(url.user, url.password);
  }
  const Location* const location = location_of(url);
  if (location != nullptr && location->user && location->password) {
    return basic(*location->user, location->password->reveal());
  }
  const auto login = settings_.netrc && may_have_netrc(url)
                         ? netrc_login(settings_.netrc->reveal(), url.host)
                         : std::nullopt;
  if (login) {
    return basic(login->user, login->password.reveal());
  }
  // A page must not choose the token's destination.
  if (location != nullptr && url.scheme == "https" && is_google_python_host(url.host)) {
    if (const auto token = google_token()) {
      return basic("oauth2accesstoken", token->reveal());
    }
  }
  if (!url.user.empty()) {
    return basic(url.user, "");
  }
  return location != nullptr && location->user ? std::optional{basic(*location->user, "")}
                                               : std::nullopt;
}

/// Like pip, returns the index or find-links page on the host of `url` with the longest common
/// path.
const Location* Logins::location_of(const Url& url) const {
  const Location* found = nullptr;
  std::size_t longest = 0;
  for (const auto* const list : {&settings_.indexes, &settings_.find_links}) {
    for (const auto& location : *list) {
      const auto known = Url::parse(location.url);
      if (!known || place_of(*known) != place_of(url)) {
        continue;
      }
      const auto shared = static_cast<std::size_t>(
          std::mismatch(known->path.begin(), known->path.end(), url.path.begin(), url.path.end())
              .first -
          known->path.begin());
      if (found == nullptr || shared > longest) {
        found = &location;
        longest = shared;
      }
    }
  }
  return found;
}

/// A page or a lock can name any URL on a host in netrc. Over plain HTTP others could read the
/// login, so the user must already use that host over HTTP.
bool Logins::may_have_netrc(const Url& url) const {
  if (url.scheme != "http" || url.is_loopback()) {
    return true;
  }
  const auto is_plain_on_host = [&](const Location& location) {
    const auto known = Url::parse(location.url);
    return known && known->scheme == "http" && known->host == url.host;
  };
  const auto& hosts = settings_.trusted_hosts;
  return std::ranges::any_of(settings_.indexes, is_plain_on_host) ||
         std::ranges::any_of(settings_.find_links, is_plain_on_host) ||
         std::ranges::any_of(hosts, [&](const std::string& host) {
           return host.substr(0, host.rfind(':')) == url.host || host == url.host;
         });
}

std::optional<Secret> Logins::google_token() const {
  const std::scoped_lock lock{mutex_};
  return google_ ? google_() : std::nullopt;
}

}  // namespace autopack::index
