#pragma once

#include "plan/import_walk.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// Returns true if `text`, which is Python, sets `num_workers`: its data loader uses worker
/// processes, which need shared memory.
bool sets_data_workers(std::string_view text);

/// Returns a warning for the first of the `reached` files that imports torch and loads data in
/// worker processes; nothing if there is none.
std::optional<Problem> data_worker_advice(const ReadablePlan& plan,
                                          const std::vector<ReachedFile>& reached);

}  // namespace autopack::plan
