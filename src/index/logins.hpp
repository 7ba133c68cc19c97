#pragma once

#include "base/secret.hpp"
#include "base/url.hpp"
#include "index/settings.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace autopack::index {

/// True for the hosts of Artifact Registry's Python repositories.
bool is_google_python_host(const std::string& host);

/// Returns `scheme://host:port`, the scope of a login.
std::string place_of(const Url& url);

/// Finds the logins for indexes and their file servers in pip's order: in the URL itself, in the
/// index on the same host, in netrc; then Google's token for an index in Artifact Registry. Sends a
/// login of netrc over plain HTTP only to hosts that the settings reach over HTTP, or trust.
class Logins {
public:
  /// Returns an access token of the user's Google credentials; nothing without credentials.
  using GoogleToken = std::function<std::optional<Secret>()>;

  /// `google` may be empty. `settings` must outlive it.
  Logins(const IndexSettings& settings, GoogleToken google);

  /// Returns the value of `Authorization` for `url`, or nothing if no login is known. Thread-safe.
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
