#pragma once

#include "base/error.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::project {

/// The variables of `values`, each `NAME=VALUE`. What is no such pair, and what looks like a
/// secret, is an error: the values stay in the image's history.
std::map<std::string, std::string> read_build_environment(const std::vector<std::string>& values,
                                                          Problems& problems);

}  // namespace autopack::project
