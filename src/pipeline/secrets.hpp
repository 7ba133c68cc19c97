#pragma once

#include "base/error.hpp"
#include "plan/plan.hpp"
#include "services/services.hpp"

namespace autopack::pipeline {

/// What the secret firewall says of the files that `plan` sends: an error for each secret that the
/// project's `.autopack-allow-secrets` does not allow, with file, line and kind but never the
/// value; a warning for each line of that file which allows nothing any more. Files that the plan's
/// hashing cleared are not read again.
Problems find_secrets(const plan::ReadablePlan& plan);

/// Stops before a byte leaves: throws Error(project) with every secret. Warnings are told.
void refuse_secrets(Services& services, const plan::ReadablePlan& plan);

}  // namespace autopack::pipeline
