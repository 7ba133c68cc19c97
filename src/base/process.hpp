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
  std::map<std::string, std::string> environment{};  ///< besides this process's own
  std::chrono::milliseconds timeout{};               ///< 0: no limit
  const Cancellation* cancellation{nullptr};
};

/// Runs `argv` (found through PATH), feeds `input`, waits. None when the program is not there.
/// The program starts with no signal blocked, and none ignored but a SIGHUP that is ignored here.
/// Secrets go in through `input`, never through `argv`. A program that is not at its end after
/// the timeout, or prints more than `largest_text`, is killed: Error(environment); so is one that
/// runs when the cancellation is requested: Error(interrupted).
std::optional<ProcessResult> run_process(const std::vector<std::string>& argv,
                                         const std::string& input,
                                         const ProcessOptions& options = {});

/// The program `name` in the directories of `path` (the variable PATH); none when it is in none.
std::optional<std::string> find_program(const std::string& name, const std::string& path);

}  // namespace autopack
