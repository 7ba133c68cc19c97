#pragma once

#include "project/findings.hpp"

#include <map>
#include <string>

namespace autopack::project {

/// The programs that installing the project makes, and the module each of them runs: `my-train` ->
/// `trainer.cli`. Empty for what only running setup.py would tell.
std::map<std::string, std::string> console_scripts(const Findings& findings);

}  // namespace autopack::project
