#pragma once

#include "base/report.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack {

struct ProcessResult {
  int status{0};  ///< exit status; 128 + N for signal N
  std::string output{};
  std::string errors{};
};

struct ProcessOptions {
  std::map<std::string, std::string> environment{};  ///< in addition to this process's own
  bool inherits{true};                               ///< false: `environment` is all it gets
  std::chrono::milliseconds timeout{};               ///< 0 means no limit
  const Cancellation* cancellation{nullptr};
};

/// Runs `argv` (found on PATH), writes `input` to it, and waits. Returns nothing if the program
/// does not exist. The program starts without blocked signals and without ignored ones, except for
/// a SIGHUP that is ignored here. Pass secrets in `input`, never in `argv`. Kills a program that
/// has not ended after the timeout or that prints more than `largest_text`, and throws
/// Error(environment). If the cancellation is requested, kills the program and throws
/// Interrupted.
std::optional<ProcessResult> run_process(const std::vector<std::string>& argv,
                                         const std::string& input,
                                         const ProcessOptions& options = {});

/// Returns the program `name` in the directories of `path` (the variable PATH), or nothing.
std::optional<std::string> find_program(const std::string& name, const std::string& path);

}  // namespace autopack
