#pragma once

#include "pipeline/look_ahead.hpp"
#include "pipeline/planning.hpp"

namespace autopack::pipeline {

/// The image that is wanted: planned, made or found, in its registry (or in the docker engine when
/// it is not pushed) and in the outputs asked for; these alone when nothing is pushed.
packaging::Image package(Services& services,
                         const WantedPtr& wanted,
                         LookAhead::Mode mode = LookAhead::Mode::on);

/// The same for a program that is run here: the image stays in the engine, and the one that the
/// last run under this name left is removed when it is another.
packaging::Image package_for_running(Services& services, const WantedPtr& wanted);

/// Where the program that is wanted uses CUDA: `train.py:12`. Returns nothing if it does not. Asks
/// nobody.
std::optional<std::string> find_gpu_use(Services& services, const WantedPtr& wanted);

/// Plans without engine and network, and reports all findings: throws what a build would refuse.
void check_offline(Services& services, const WantedPtr& wanted);

/// The same findings; reports nothing. What prevents a plan is among them.
Problems find_offline(Services& services, const WantedPtr& wanted);

}  // namespace autopack::pipeline
