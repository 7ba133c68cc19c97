#pragma once

#include "base/error.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <string>

namespace autopack::engine {

/// Reports that pip in the docker engine will install what `work` requires because an index or its
/// files could not be reached, unless `--engine=direct` rules that out. Returns the reason, one
/// line.
std::string hand_over_to_pip(Services& services,
                             const packaging::Packaging& work,
                             const Error& error);

}  // namespace autopack::engine
