#pragma once

#include "base/descriptor.hpp"
#include "base/scratch_directory.hpp"
#include "base/ssh.hpp"
#include "base/started_process.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace autopack::engine {

using autopack::parse_ssh_address;
using autopack::SshAddress;

/// A socket on this machine that leads to an engine on another one: each connection to it becomes
/// the user's own `ssh` with its configuration and docker's `system dial-stdio` at the other end,
/// as with docker's command line. The connections share one login: by the user's ControlPath if
/// there is one, else by a private one. Thread-safe.
class SshTunnel {
public:
  explicit SshTunnel(SshAddress address) : address_{std::move(address)} {}

  ~SshTunnel();
  SshTunnel(const SshTunnel&) = delete;
  SshTunnel& operator=(const SshTunnel&) = delete;
  SshTunnel(SshTunnel&&) = delete;
  SshTunnel& operator=(SshTunnel&&) = delete;

  /// Returns the path of the socket, which listens from the first call on. Throws
  /// Error(environment) if that is impossible.
  std::string socket();
  /// Returns why the last connection failed: the end of what ssh printed, or why it did not start.
  /// Returns nothing if ssh is still running. Waits a moment for a process that is about to end.
  std::optional<std::string> failure();

  /// Returns `ssh [-p PORT] [USER@]HOST` for a shell.
  std::string command() const { return ssh_text(address_); }

private:
  void serve();
  void connect(int connection);

  SshAddress address_;
  std::mutex mutex_{};
  std::unique_ptr<ScratchDirectory> directory_{};
  FileDescriptor listener_{-1};
  std::vector<std::string> words_{};  ///< of the command that connects
  std::vector<std::unique_ptr<StartedProcess>> processes_{};
  std::optional<std::string> start_failure_{};
  std::thread thread_{};
};

}  // namespace autopack::engine
