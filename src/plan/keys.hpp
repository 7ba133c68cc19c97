#pragma once

#include "plan/plan.hpp"

#include <string>

namespace autopack::plan {

/// The keys of `plan`. `templates` is the text of the templates when they are not the embedded
/// ones.
Keys keys_of(const Plan& plan, const project::Project& project, const std::string& templates);

/// True for files that stand in the key as normalised requirements, so that comments do not count.
bool is_requirement_text(const Plan& plan,
                         const project::Project& project,
                         const std::string& path);

/// What stands in the key for the executor image: its digest, else what else tells it apart.
std::string base_identity(const image::BaseFacts& base);

/// Without the white space that means nothing; a marker needs its own.
std::string normalised(const std::string& requirement);

}  // namespace autopack::plan
