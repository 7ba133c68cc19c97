#pragma once

#include "pipeline/look_ahead.hpp"
#include "pipeline/planning.hpp"

namespace autopack::pipeline {

/// Returns the requested image, built or found, in its registry (or in the docker engine if it is
/// not pushed) and in the requested outputs; only in these if nothing is pushed.
packaging::Image package(Services& services,
                         const WantedPtr& wanted,
                         LookAhead::Mode mode = LookAhead::Mode::on);

/// The same for a program that runs here: the image stays in the engine, and a different one of the
/// last run under this name is removed.
packaging::Image package_for_running(Services& services, const WantedPtr& wanted);

/// Returns where the program uses CUDA: `train.py:12`, or nothing if it does not. Sends no request.
std::optional<std::string> find_gpu_use(Services& services, const WantedPtr& wanted);

/// Plans without engine and network, and reports all findings: throws what a build would refuse.
void check_offline(Services& services, const WantedPtr& wanted);

/// Returns the same findings without reporting them, including those that prevent a plan.
Problems find_offline(Services& services, const WantedPtr& wanted);

}  // namespace autopack::pipeline
