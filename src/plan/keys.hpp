#pragma once

#include "plan/plan.hpp"

#include <string>

namespace autopack::plan {

/// Returns the keys of `plan`. `templates` is the text of the templates if they are not the
/// embedded ones.
Keys keys_of(const Plan& plan, const project::Project& project, const std::string& templates);

/// Returns true for files that the key contains as normalised requirements, so that comments do not
/// matter.
bool is_requirement_text(const Plan& plan,
                         const project::Project& project,
                         const std::string& path);

/// Returns the identity of the executor image in the key: its digest, else other identifying facts.
std::string base_identity(const image::BaseFacts& base);

/// Removes insignificant white space; a marker needs its own.
std::string normalised(const std::string& requirement);

}  // namespace autopack::plan
