#pragma once

#include "plan/import_walk.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// True when `text`, which is Python, sets `num_workers`: it loads data in worker processes, which
/// need shared memory.
bool sets_data_workers(std::string_view text);

/// A warning for the first of the `reached` files that imports torch and loads data in worker
/// processes; nothing when none does.
std::optional<Problem> data_worker_advice(const ReadablePlan& plan,
                                          const std::vector<ReachedFile>& reached);

}  // namespace autopack::plan
