#pragma once

#include "project/code/shell_commands.hpp"

#include <vector>

namespace autopack::project {

/// Returns true for a command that almost never fails, so that the one after `&&` runs.
bool surely_succeeds(const ShellCommand& command);

/// Marks the commands of functions that nothing surely calls as optional.
void mark_uncalled_functions(std::vector<ShellCommand>& commands);

}  // namespace autopack::project
