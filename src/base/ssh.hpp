#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The user's own `ssh`, with its configuration, keys and agent.

namespace autopack {

/// The parts of `ssh://[USER@]HOST[:PORT][/SOCKET]`.
struct SshAddress {
  std::optional<std::string> user{};
  std::string host{};  ///< as typed: it may be an alias of ssh's configuration
  std::optional<std::uint16_t> port{};
  /// The path of a Docker Engine's socket there; absent: its default.
  std::optional<std::string> socket{};
};

/// Returns nothing if `url` is not such an address. A password in it is refused: ssh takes none on
/// its command line.
std::optional<SshAddress> parse_ssh_address(std::string_view url);

/// Returns `ssh [-p PORT] [USER@]HOST` for a shell.
std::string ssh_text(const SshAddress& address);

/// The login that several commands share. If the user's configuration has a ControlPath, that
/// applies.
struct SharedLogin {
  std::filesystem::path directory{};  ///< for its socket, which is called `master`
  /// How long the login outlives the last command; 0: it ends with the first one.
  std::chrono::seconds idle{0};
};

/// Returns the words that start a command there; the caller adds the command. Ctrl-C at the
/// terminal does not reach this ssh, which is still needed for cleaning up. Runs `ssh -G`, which
/// connects to nothing.
std::vector<std::string> ssh_command(const SshAddress& address, const SharedLogin& login);

/// Ends the login at once. Does nothing if there is none.
void end_shared_login(const SshAddress& address, const SharedLogin& login);

}  // namespace autopack
