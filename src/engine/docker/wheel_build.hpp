#pragma once

#include "engine/wheels/wheel_source.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

namespace autopack::engine {

/// Builds wheels with the docker engine, in the executor image of `work`, as pip builds them there:
/// with what they ask for to build, from the indexes of this machine's pip. Both must outlive it.
BuildWheel build_wheels_with(Services& services, const packaging::Packaging& work);

}  // namespace autopack::engine
