#pragma once

#include "project/shell_commands.hpp"

#include <vector>

namespace autopack::project {

/// True for a command that hardly ever fails, so that what `&&` puts behind it runs.
bool surely_succeeds(const ShellCommand& command);

/// Marks what is in a function that nothing surely calls as optional.
void settle_functions(std::vector<ShellCommand>& commands);

}  // namespace autopack::project
