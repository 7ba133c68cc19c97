#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "cli/command.hpp"

#include <memory>
#include <string>
#include <vector>

namespace autopack::cli {

/// A parsed command line.
struct Reading {
  GlobalOptions global{};
  const CommandEntry* entry{nullptr};
  std::unique_ptr<Command> command{};
  std::unique_ptr<FlagSet> flags{};
  std::vector<std::string> program_arguments{};
  std::vector<std::string> arguments{};
  Problems warnings{};  ///< about settings and variables
};

/// Fills `reading` from the words `typed` (without the program's name), the environment and files
/// of flags and settings. On an error, keeps what was read before, so that the flags determine how
/// the error is printed. Throws Error(usage).
void read_command_line(Reading& reading,
                       const std::vector<std::string>& typed,
                       const Environment& environment);

}  // namespace autopack::cli
