#pragma once

#include "job/cluster.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

using job::Cluster;
using job::Replica;

/// Reduces the counts to at most `most` in total, from the largest pools first. Each pool with
/// replicas keeps one, even if that exceeds `most`. 0 = no limit.
std::vector<std::size_t> limited_counts(std::vector<std::size_t> counts, std::size_t most);

/// Returns `counts` replicas of the job `local/id`. `trial` distinguishes the containers of one
/// trial from others.
Cluster plan_cluster(const std::vector<std::size_t>& counts,
                     const std::string& id,
                     const std::optional<std::string>& trial = {});

}  // namespace autopack::local
