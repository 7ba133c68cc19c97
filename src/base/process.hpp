#pragma once

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

/// Runs `argv` (found through PATH), feeds `input`, waits. None when the program is not there.
/// Secrets go in through `input`, never through `argv`.
std::optional<ProcessResult> run_process(
    const std::vector<std::string>& argv,
    const std::string& input,
    const std::map<std::string, std::string>& extra_environment = {});

}  // namespace autopack
