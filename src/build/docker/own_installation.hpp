#pragma once

#include "build/wheels/wheel_source.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

namespace autopack::build {

/// Returns a function that installs the own package of `work` in its executor image with the docker
/// engine. Both arguments must outlive it.
InstallOwn install_own_with(Services& services, const packaging::Packaging& work);

}  // namespace autopack::build
