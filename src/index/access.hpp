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
  http::Client* client{nullptr};  ///< safe to use from several threads
  IndexSettings settings{};
  Logins::GoogleToken google{};                            ///< may be empty
  const Cancellation* cancellation{nullptr};               ///< may be null
  Reporter* reporter{nullptr};                             ///< may be null
  std::function<void(std::chrono::milliseconds)> sleep{};  ///< between tries; empty: as it is
};

/// How indexes and the servers of their files are asked: with the login, certificates and proxy
/// that are meant for each host, and again where another try may help. Safe to use from several
/// threads.
class Access {
public:
  explicit Access(AccessOptions options);
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
  Access(Access&&) = delete;
  Access& operator=(Access&&) = delete;
  ~Access() = default;

  /// A GET of `url`, which may hold user information; follows redirects. `what` are words for
  /// messages: "download `a.whl`". Throws Error(usage) when `url` is neither http nor https.
  http::Request request(const std::string& what, const std::string& url) const;
  /// The same, with the login of `place`.
  http::Request request(const std::string& what, const Location& place) const;

  /// The answer, whatever its status, to what `make` gives for each try. Throws what the last try
  /// throws.
  http::Response send(const std::function<http::Request()>& make) const;

  /// What a status other than 2xx means, with its remedy.
  static Error refusal(const http::Request& request, const http::Response& response);

  /// Whether what `url` answers can be believed without a hash: https, loopback, or a trusted host.
  bool is_secure(const Url& url) const;

  const IndexSettings& settings() const { return options_.settings; }

  const Cancellation* cancellation() const { return options_.cancellation; }

  /// Reports what `-v` shows.
  void detail(const std::string& text) const;

  /// Tells a warning once, however often it is given.
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
