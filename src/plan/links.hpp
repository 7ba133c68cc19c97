#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// What to say of symbolic links of the image that lead nowhere in it: an error for one that an
/// import goes through which the program certainly makes, and one warning for each directory that
/// the others lead into.
Problems dangling_links(const ReadablePlan& plan, const project::Project& project);

}  // namespace autopack::plan
