#pragma once

#include "plan/plan.hpp"

#include <string>

namespace autopack::plan {

/// 64 hexadecimal digits over all that the dependency step depends on. `templates` is the text of
/// the templates when they are not the embedded ones.
std::string dependency_key(const Plan& plan,
                           const project::Project& project,
                           const std::string& templates);

/// 64 hexadecimal digits over the dependency key and all that is copied and run.
std::string image_key(const Plan& plan);

}  // namespace autopack::plan
