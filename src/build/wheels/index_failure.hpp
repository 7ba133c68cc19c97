#pragma once

#include "base/error.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <string>

namespace autopack::build {

/// Reports that pip in the docker engine will install the requirements of `work` because an index
/// or its files are unreachable, unless `--engine=direct` prevents that. Returns the reason, one
/// line.
std::string hand_over_to_pip(Services& services,
                             const packaging::Packaging& work,
                             const Error& error);

}  // namespace autopack::build
