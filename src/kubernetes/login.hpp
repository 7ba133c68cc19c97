#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "google/credentials.hpp"
#include "http/client.hpp"
#include "kubernetes/kubeconfig.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace autopack::kubernetes {

/// What an exec plugin printed.
struct ExecAnswer {
  Secret token{};
  std::string certificate{};  ///< PEM
  Secret key{};
  std::optional<std::int64_t> expires_at{};  ///< seconds since the epoch; absent: with the process
};

/// Returns KUBERNETES_EXEC_INFO for the plugin.
std::string exec_info(const Access& access);

/// Reads the ExecCredential that a plugin printed. Throws Error(environment), without the text.
ExecAnswer read_exec_answer(const std::string& text, const ExecPlugin& plugin);

struct LoginOptions {
  Access access{};
  const Environment* environment{nullptr};
  const Cancellation* cancellation{nullptr};
  /// Google's tokens, for GKE; called on first use.
  std::function<google::TokenSource&()> google{};
  Reporter* reporter{nullptr};
  /// Seconds since the epoch; if empty, the system's clock.
  std::function<std::int64_t()> now{};
};

/// Logs requests in with the user of a context. Thread-safe. What a plugin printed is kept until it
/// expires, in memory only.
class Login {
public:
  explicit Login(LoginOptions options) : options_{std::move(options)} {}

  /// Adds certificates, proxy and login to `request`. Throws Error(environment) if a plugin or a
  /// file fails.
  void apply(http::Request& request);
  /// Forgets a login that the server refused with 401. Returns true if another one may be accepted.
  bool renew();

  /// Returns who logs in, for messages.
  std::string describe() const;

  const Access& access() const { return options_.access; }

private:
  bool is_google() const;
  Secret bearer() const;
  ExecAnswer exec_answer();
  ExecAnswer run_plugin() const;

  LoginOptions options_;
  std::mutex mutex_{};
  std::optional<ExecAnswer> answer_{};
};

}  // namespace autopack::kubernetes
