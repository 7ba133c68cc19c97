#pragma once

#include "cli/command.hpp"

#include <string>

namespace autopack::cli {

/// What `autopack --help` prints.
std::string overview_text();

/// What `autopack COMMAND --help` prints, at most 80 columns; with `all`, every flag is described.
std::string command_help_text(const CommandEntry& command, const FlagSet& flags, bool all);

/// The manual page autopack(1) as roff, made of the same tables as the help.
std::string manual_page();

}  // namespace autopack::cli
