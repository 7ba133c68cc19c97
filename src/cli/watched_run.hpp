#pragma once

#include "cli/command.hpp"
#include "engine/docker.hpp"
#include "packaging/wanted.hpp"

#include <functional>
#include <memory>

namespace autopack::cli {

/// Packages what `want` says and runs it as `container` says, and again whenever a file that goes
/// into the image changes; the program that runs is stopped first. Ends by a signal, with its
/// status. What cannot be packaged is told and waited for, but for the first time: then it is
/// thrown.
int run_watched(Session& session,
                const std::function<std::shared_ptr<const packaging::Wanted>()>& want,
                engine::ContainerSpec container);

}  // namespace autopack::cli
