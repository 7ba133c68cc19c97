#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// Reports symbolic links of the image with a missing target: an error if an import that the
/// program certainly makes uses the link, and one warning for each target directory of the others.
Problems dangling_links(const ReadablePlan& plan, const project::Project& project);

}  // namespace autopack::plan
