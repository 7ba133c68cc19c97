#pragma once

#include "cli/command.hpp"
#include "engine/docker.hpp"
#include "packaging/wanted.hpp"

#include <functional>
#include <memory>

namespace autopack::cli {

/// Packages the project of `want` and runs it with the options of `container`, and again whenever
/// an included file changes; stops the running program first. A signal ends it, and determines the
/// status. If packaging fails, reports it and waits for the next change; on the first run, throws.
int run_watched(Session& session,
                const std::function<std::shared_ptr<const packaging::Wanted>()>& want,
                engine::ContainerSpec container);

}  // namespace autopack::cli
