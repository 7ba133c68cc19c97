#pragma once

#include "cli/command.hpp"
#include "local/job_watcher.hpp"

namespace autopack::cli {

/// Shows what replicas write on standard error: whole lines behind their names, which have colours;
/// on a terminal, what each does now below.
local::Screen local_screen(Session& session);

}  // namespace autopack::cli
