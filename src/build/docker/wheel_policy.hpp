#pragma once

#include "build/wheels/wheel_source.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

namespace autopack::build {

/// Returns how to obtain the wheels of `work`, whose choices and builds have that `freshness`: the
/// docker engine builds in its executor image what has to be built, unless the request is
/// `--engine=direct`. `services` and `work` must outlive it.
WheelPolicy wheel_policy(Services& services,
                         const packaging::Packaging& work,
                         packaging::Freshness freshness);

}  // namespace autopack::build
