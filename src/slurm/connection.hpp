#pragma once

#include "base/byte_pipe.hpp"
#include "base/report.hpp"
#include "base/scratch_directory.hpp"
#include "base/ssh.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::slurm {

/// What a script printed.
struct Answer {
  /// False if the connection ended before the script did: it may have done all, some or nothing.
  bool is_whole{false};
  int status{0};         ///< of the script
  std::string output{};  ///< its standard output
  std::string errors{};  ///< its last lines on standard error; of ssh, if the connection ended
};

/// Returns what the script printed between its marks; nothing is whole without the second one.
/// Logins may print texts of their own before the first.
Answer between_marks(const std::string& output, const std::string& mark);

/// Where Slurm's commands are: here, or behind the user's own ssh.
class Connection {
public:
  /// `login`: absent if the commands are here. `cancellation` may be null, and must outlive the
  /// connection.
  Connection(std::optional<SshAddress> login, const Cancellation* cancellation);
  virtual ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Returns `[USER@]HOST[:PORT]`; `-` for this machine.
  std::string name() const;

  /// Returns the same for messages: "`HOST`" or "this machine".
  std::string place() const;

  /// Throws Interrupted as soon as the user stops the run: `yes`. `no` waits for the end, for what
  /// must not be left half done.
  enum class Stops { yes, no };

  /// Runs a POSIX shell script there, which begins only once it has arrived as a whole. Throws
  /// Error(environment) if there is no ssh.
  virtual Answer attempt(const std::string& script, Stops stops = Stops::yes);
  /// The same; throws Error(remote) if there is no whole answer.
  Answer run(const std::string& script);

  /// Runs the script in the file `program` there, which gets `input` on its standard input. Throws
  /// Error(remote) if it does not print `done`, or what `input` throws.
  virtual void send(const std::string& program, const BytePipe::Write& input);

  /// Returns the error for an answer that is not whole.
  Error lost(const Answer& answer) const;

  /// Returns how a person starts `command` there.
  std::string by_hand(const std::string& command) const;

private:
  std::vector<std::string> words(const std::string& command);

  std::optional<SshAddress> login_;
  const Cancellation* cancellation_;
  std::unique_ptr<ScratchDirectory> directory_{};
  std::vector<std::string> ssh_{};
};

/// Returns the address in `[USER@]HOST[:PORT]`. Throws Error(usage).
SshAddress read_login(const std::string& text);

}  // namespace autopack::slurm
