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

/// Requests to one repository: where it is, the login, and what is tried again.
class Caller {
public:
  Caller(const std::string& host, std::string path, Access access, RepositoryOptions options);

  const std::string& path() const { return path_; }

  /// `host/path` for messages.
  std::string name() const { return host_ + "/" + path_; }

  /// The URL of `rest` (`manifests/latest`) in the repository.
  std::string url(std::string_view rest);
  /// The URL of the API itself.
  std::string root();
  /// `location` of an answer to a request to `base` as a URL; throws Error(remote) for one that may
  /// not be used.
  std::string locate(const std::string& base, const std::string& location);
  /// May blobs be mounted from `path` too.
  void also_pull(const std::string& path);

  /// One try, but for a second one with a renewed login when the body can be sent again.
  http::Response try_once(http::Request request);
  /// As often as retry_delay says; then the last answer, whatever its status.
  http::Response send(const http::Request& request);
  /// Waits before the next try; false when there should be none. `more_tries` come on top of the
  /// usual number.
  bool pause(const http::Attempt& attempt, int more_tries = 0) const;
  /// True when `code` says that the repository is missing and it was made just now, once.
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
  std::optional<std::string> origin_{};  ///< none before it was asked for
  std::atomic<bool> settled_{false};     ///< origin_ has answered, or is beyond doubt
  std::mutex making_;
  bool made_{false};
};

}  // namespace autopack::registry
