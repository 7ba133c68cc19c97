#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "cli/flags.hpp"

namespace autopack::cli {

/// A warning for each variable `AUTOPACK_...` that gives no flag its value, and is spelled nearly
/// as one that does. `flags` are those of the command that runs.
Problems unknown_variables(const FlagSet& flags, const Environment& environment);

}  // namespace autopack::cli
