#pragma once

#include "base/descriptor.hpp"

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace autopack {

/// A program that runs beside this one. It inherits the environment and the terminal.
class StartedProcess {
public:
  /// Starts `argv` (found on PATH) with `stream` as its standard input and output; /dev/null if it
  /// is negative. With `own_session`, no signal of the terminal reaches it. Throws
  /// Error(environment) if it does not start.
  StartedProcess(const std::vector<std::string>& argv, int stream, bool own_session = false);
  /// Leaves a running program alone.
  ~StartedProcess();
  StartedProcess(const StartedProcess&) = delete;
  StartedProcess& operator=(const StartedProcess&) = delete;

  /// Returns the exit status, 128 + N for signal N; nothing while it runs.
  std::optional<int> status();
  /// Returns the last lines that it has written to standard error, joined by `; `.
  std::string last_errors() const;

private:
  pid_t pid_{-1};
  std::optional<int> status_{};
  FileDescriptor errors_;
};

}  // namespace autopack
