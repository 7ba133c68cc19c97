#pragma once

#include "cli/command.hpp"
#include "local/job_watcher.hpp"

namespace autopack::cli {

/// Shows the output of replicas on standard error: whole lines after their coloured names; on a
/// terminal, also the current status of each below.
local::Screen local_screen(Session& session);

}  // namespace autopack::cli
