#pragma once

#include "cli/command.hpp"

#include <string>

namespace autopack::cli {

/// What `autopack --help` prints.
std::string overview_text();

/// What `autopack COMMAND --help` prints; with `all`, every flag is described.
std::string command_help_text(const CommandEntry& command, const FlagSet& flags, bool all);

}  // namespace autopack::cli
