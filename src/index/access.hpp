#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "base/secret.hpp"
#include "base/url.hpp"
#include "http/client.hpp"
#include "http/retry.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::index {

/// A URL (or, for a local place, a path) with its login removed.
struct Location {
  std::string url{};
  std::optional<std::string> user{};  ///< absent: the URL names no user
  std::optional<Secret> password{};

  static Location parse(std::string_view text);
};

/// pip's options of the same names: where to look for packages, and how.
struct IndexSettings {
  /// index-url, then each extra-index-url; all have the same rank
  std::vector<Location> indexes{};
  std::vector<Location> find_links{};
  bool no_index{false};
  std::vector<std::string> trusted_hosts{};             ///< `HOST` or `HOST:PORT`, in lower case
  std::optional<std::filesystem::path> certificates{};  ///< authorities; absent: the system's
  std::optional<std::filesystem::path> client_certificate{};  ///< including its key
  std::optional<Secret> proxy{};
  std::chrono::seconds timeout{15};  ///< for connecting, and for a pause without a byte
  int retries{5};
  std::optional<Secret> netrc{};  ///< contents of the file
};

/// Returns the settings that pip on this machine would use. `default_index` applies if index-url is
/// not set. Throws Error(environment) for a file that cannot be read, Error(usage) for a value that
/// pip refuses.
IndexSettings find_index_settings(const Environment& environment,
                                  const std::optional<std::string>& default_index,
                                  const std::filesystem::path& system = "/etc");

/// Adds the options of one line of a requirements file in `directory` (see
/// project::RequirementLine), as pip does: an index-url replaces all indexes so far. `${NAME}` is a
/// variable of `environment`. Ignores other options.
void add_line_options(IndexSettings& settings,
                      const std::vector<std::pair<std::string, std::string>>& options,
                      const std::filesystem::path& directory,
                      const Environment& environment);

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

struct AccessOptions {
  http::Client* client{nullptr};  ///< thread-safe
  IndexSettings settings{};
  Logins::GoogleToken google{};                            ///< may be empty
  const Cancellation* cancellation{nullptr};               ///< may be null
  Reporter* reporter{nullptr};                             ///< may be null
  std::function<void(std::chrono::milliseconds)> sleep{};  ///< sleeps between tries; may be empty
};

/// Sends requests to indexes and their file servers, with the login, certificates and proxy for
/// each host, and retries where that can help. Thread-safe.
class Access {
public:
  explicit Access(AccessOptions options);
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
  Access(Access&&) = delete;
  Access& operator=(Access&&) = delete;
  ~Access() = default;

  /// Returns a GET request for `url`, which may contain user information; it follows redirects.
  /// `what` is text for messages: "download `a.whl`". Throws Error(usage) if `url` is neither http
  /// nor https.
  http::Request request(const std::string& what, const std::string& url) const;
  /// The same, with the login of `place`.
  http::Request request(const std::string& what, const Location& place) const;

  /// Sends the request that `make` returns, a new one for each try. Returns the answer, whatever
  /// its status. Throws what the last try throws.
  http::Response send(const std::function<http::Request()>& make) const;

  /// Returns the error for a status other than 2xx, with hints.
  static Error refusal(const http::Request& request, const http::Response& response);

  /// Returns whether an answer from `url` can be trusted without a hash: https, loopback, or a
  /// trusted host.
  bool is_secure(const Url& url) const;

  const IndexSettings& settings() const { return options_.settings; }

  const Cancellation* cancellation() const { return options_.cancellation; }

  /// Reports a line for `-v`.
  void detail(const std::string& text) const;

  /// Reports a warning once, however often it is called.
  void warn(const Problem& problem) const;

private:
  bool is_trusted(const Url& url) const;
  http::Tls tls_for(const Url& url) const;

  AccessOptions options_;
  Logins logins_;
  mutable std::mutex mutex_{};
  mutable std::vector<std::string> reported_{};
};

}  // namespace autopack::index
