#pragma once

#include "base/secret.hpp"
#include "base/url.hpp"
#include "index/settings.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace autopack::index {

/// True for the hosts of Artifact Registry's repositories of Python packages.
bool is_google_python_host(const std::string& host);

/// `scheme://host:port`: who a login is for.
std::string place_of(const Url& url);

/// The logins for indexes and the servers of their files, as pip finds them: of the URL itself, of
/// the index on the same host, of netrc; then Google's token for an index of Artifact Registry. A
/// login of netrc goes over plain HTTP only to hosts that the settings reach so, or trust.
class Logins {
public:
  /// An access token of the person's Google credentials; none when there are no credentials.
  using GoogleToken = std::function<std::optional<Secret>()>;

  /// `google` may be empty. `settings` must outlive it.
  Logins(const IndexSettings& settings, GoogleToken google);

  /// The value of `Authorization` for `url`; none when no login is known. Safe to call from several
  /// threads.
  std::optional<Secret> find(const Url& url) const;

private:
  const Location* location_of(const Url& url) const;
  bool may_have_netrc(const Url& url) const;
  std::optional<Secret> google_token() const;

  const IndexSettings& settings_;
  GoogleToken google_;
  mutable std::mutex mutex_{};
};

}  // namespace autopack::index
