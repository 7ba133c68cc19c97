#pragma once

#include "build/wheels/resolution.hpp"
#include "pipeline/planning.hpp"
#include "services/services.hpp"

namespace autopack::pipeline {

/// Returns the lock of the requirements of `wanted`; see build::resolve_requirements. Also throws
/// as the look-up of the executor image does.
build::Locked lock_requirements(Services& services,
                                const WantedPtr& wanted,
                                const build::LockChoice& choice);

}  // namespace autopack::pipeline
