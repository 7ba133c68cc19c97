#pragma once

#include "http/retry.hpp"
#include "registry/client.hpp"
#include "registry/login.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace autopack::registry {

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
  /// Waits before the next try; returns false if there should be none. `more_tries` adds to the
  /// usual number.
  bool pause(const http::Attempt& attempt, int more_tries = 0) const;
  /// Creates a missing repository, once; returns true if `code` says that it is missing and it
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
