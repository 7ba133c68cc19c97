#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "cli/flags.hpp"

namespace autopack::cli {

/// Returns a warning for each variable `AUTOPACK_...` that sets no flag and is spelled almost like
/// one that does. `flags` are those of the current command.
Problems unknown_variables(const FlagSet& flags, const Environment& environment);

}  // namespace autopack::cli
