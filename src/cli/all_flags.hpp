#pragma once

#include "cli/flags.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// Returns the help of the flags of one command, including the global ones; empty if there is no
/// such command.
std::vector<FlagHelp> flags_of_command(std::string_view name);

/// Returns the first command that has the flag `--name`; nothing if no command has it.
std::optional<std::string> command_with(std::string_view flag);

/// Returns the flags before a command.
std::vector<FlagHelp> flags_of_program();

/// Returns the flags of all commands, without duplicates.
std::vector<FlagHelp> flags_of_all_commands();

/// Returns false for flags that only make sense on a command line: `--help`, `--save`.
bool may_stand_in_file(std::string_view flag);

/// Returns true for a flag with one text that may also be a list of texts to try in order.
bool may_be_list(std::string_view flag);

/// Returns true for a flag that is about one call, such as `--dry-run`: `--save` never writes it.
bool is_for_one_call(std::string_view flag);

}  // namespace autopack::cli
