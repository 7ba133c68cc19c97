#pragma once

#include "project/findings.hpp"

#include <map>
#include <string>

namespace autopack::project {

/// Returns the programs that installing the project creates, and the module of each: `my-train` ->
/// `trainer.cli`. Omits programs that only running setup.py would determine.
std::map<std::string, std::string> console_scripts(const Findings& findings);

}  // namespace autopack::project
