#pragma once

#include "plan/plan.hpp"

namespace autopack::plan {

/// A finding for each symbolic link of the image that would lead nowhere in it.
Problems dangling_links(const ReadablePlan& plan, const source::Selection& selection);

}  // namespace autopack::plan
