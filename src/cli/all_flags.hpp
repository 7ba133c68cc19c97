#pragma once

#include "cli/flags.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// What the flags of one command say of themselves, the global ones included; empty for a name that
/// is no command's.
std::vector<FlagHelp> flags_of_command(std::string_view name);

/// The first command that has the flag `--name`; none when no command has.
std::optional<std::string> command_with(std::string_view flag);

/// The flags that stand before a command.
std::vector<FlagHelp> flags_of_program();

/// The flags of all commands, each once.
std::vector<FlagHelp> flags_of_all_commands();

/// False for flags that only make sense when they are typed: `--help`, `--save`.
bool may_stand_in_file(std::string_view flag);

}  // namespace autopack::cli
