#pragma once

#include "project/findings.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

constexpr std::string_view modules_file{".gitmodules"};

/// Returns paths of git submodules at the tree's root that were not fetched.
std::vector<std::string> empty_submodules(const Findings& findings);

}  // namespace autopack::project
