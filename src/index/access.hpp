#pragma once

#include "base/report.hpp"
#include "http/client.hpp"
#include "http/retry.hpp"
#include "index/logins.hpp"
#include "index/settings.hpp"

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace autopack::index {

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
  mutable std::vector<std::string> told_{};
};

}  // namespace autopack::index
