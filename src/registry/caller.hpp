#pragma once

#include "base/url.hpp"
#include "http/client.hpp"
#include "http/retry.hpp"
#include "registry/client.hpp"
#include "registry/credentials.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::registry {

/// A login method that a registry offers (RFC 9110 section 11.6.1).
struct Challenge {
  std::string scheme{};  ///< lower case: `basic`, `bearer`
  std::map<std::string, std::string> parameters{};

  /// Returns nothing if the parameter is absent or empty.
  std::optional<std::string> get(const std::string& name) const;
};

std::vector<Challenge> parse_challenges(std::string_view text);

/// Returns the method to use for a 401 answer: Bearer, else Basic. Returns nothing if it offers
/// neither.
std::optional<Challenge> choose_challenge(const http::Response& response);

/// True for addresses that are valid only inside one network: loopback, private, link-local (in
/// every form that curl accepts, such as `0x7f.1`), and the names of this machine and of cloud
/// metadata servers.
bool is_internal_host(const std::string& host);

/// Returns the URL of the token server. Throws Error(remote) for a realm that must not get a login:
/// one with plain HTTP (except on loopback), or one inside a network that the registry is not in.
Url check_realm(const Url& registry, const std::string& realm);

/// Per request.
inline constexpr int max_redirects{5};

/// Answers a registry's challenges: Basic, or tokens from its realm. Thread-safe.
class Login {
public:
  using Send = std::function<http::Response(const http::Request&)>;

  /// `send` must do its own retries. `host` is spelled as the user wrote it.
  Login(std::string host, CredentialSource source, Send send);

  /// Requests this scope too (`repository:PATH:pull`).
  void add_scope(const std::string& scope);
  /// Returns the current Authorization header, or nothing if none is needed. Fetches a new token if
  /// the last one has expired or lacks a scope.
  std::optional<std::string> authorization();
  /// Call it after a 401 to a request that carried `used`. Returns true if there is now another
  /// header to try.
  bool renew(const std::optional<std::string>& used,
             const http::Response& answer,
             const Url& registry);
  /// Returns the login that was found; nothing before the first challenge.
  std::optional<Credential> credential() const;

private:
  std::optional<std::string> header() const;
  void fetch_token();
  http::Response ask_realm(const http::Request& request);
  void forget_credential();
  http::Request token_request() const;

  std::string host_;
  CredentialSource source_;
  Send send_;
  mutable std::mutex mutex_;
  std::vector<std::string> scopes_;
  std::vector<std::string> granted_;
  std::optional<Credential> credential_;
  std::optional<Challenge> bearer_;
  std::string realm_;
  std::optional<Secret> header_;
  std::chrono::steady_clock::time_point expires_;
};

/// Sends requests to one repository: knows its origin and login, and retries.
class Caller {
public:
  Caller(const std::string& host, std::string path, Access access, RepositoryOptions options);

  const std::string& path() const { return path_; }

  /// Returns `host/path` for messages.
  std::string name() const { return host_ + "/" + path_; }

  /// Returns the URL of `rest` (`manifests/latest`) in the repository.
  std::string url(std::string_view rest);
  /// Returns the URL of the API itself.
  std::string root();
  /// Resolves the `location` header of an answer to a request to `base`. Throws Error(remote) if
  /// the URL is not allowed.
  std::string locate(const std::string& base, const std::string& location);
  /// Also requests access to blobs of `path`, to mount them.
  void also_pull(const std::string& path);

  /// Sends the request once; if the login was renewed and the body can be sent again, twice.
  http::Response try_once(http::Request request);
  /// Sends the request as often as retry_delay allows; returns the last answer, whatever its
  /// status.
  http::Response send(const http::Request& request);
  /// Waits before the next try; returns false if there should not be one. `more_tries` adds to the
  /// usual number.
  bool pause(const http::Attempt& attempt, int more_tries = 0) const;
  /// Creates a missing repository, once; returns true if `code` means that it was missing and it
  /// exists now.
  bool make_missing(const std::optional<std::string>& code);
  /// Throws Refused for `response`.
  [[noreturn]] void refuse(const http::Request& request, const http::Response& response) const;

private:
  std::string origin();
  std::optional<std::string> find_origin();
  std::string at_origin(const std::string& url);
  http::Response exchange(http::Request request);
  http::Response settle(const http::Request& request);
  http::Response repeat(const std::function<http::Response()>& try_it) const;

  std::string host_;
  std::string path_;
  RepositoryOptions options_;
  Login login_;
  std::mutex mutex_;
  std::optional<std::string> origin_{};  ///< empty until the first request
  std::atomic<bool> settled_{false};     ///< origin_ has answered, or needs no check
  std::mutex making_;
  bool made_{false};
};

}  // namespace autopack::registry
