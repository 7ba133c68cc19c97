#pragma once

#include "build/wheels/wheel_source.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

namespace autopack::build {

/// Returns a function that builds wheels with the docker engine in the executor image of `work`, as
/// pip does there: with their build requirements, from the indexes of this machine's pip. Both
/// arguments must outlive it.
BuildWheel build_wheels_with(Services& services, const packaging::Packaging& work);

}  // namespace autopack::build
