#pragma once

#include "cli/command.hpp"

#include <string>

namespace autopack::cli {

/// Returns the output of `autopack --help`.
std::string overview_text();

/// Returns the output of `autopack COMMAND --help`, at most 80 columns; with `all`, describes every
/// flag.
std::string command_help_text(const CommandEntry& command, const FlagSet& flags, bool all);

/// Returns the manual page autopack(1) as roff, from the same tables as the help.
std::string manual_page();

}  // namespace autopack::cli
