#pragma once

#include "job/job.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// A running program of a job.
struct Replica {
  std::size_t pool{0};
  std::size_t index{0};     ///< in its pool
  std::size_t rank{0};      ///< in the whole job
  std::string name{};       ///< the name in logs: `workerpool1-0`
  std::string host{};       ///< its name in the network: `cmle-training-workerpool1-0a1b2c3d4e-0`
  std::string container{};  ///< its name in the engine

  bool is_primary() const { return rank == 0; }
};

/// The replicas of a job, the primary first.
struct Cluster {
  std::string job{};      ///< `local/ID`
  std::string network{};  ///< its name in the engine
  std::vector<Replica> replicas{};
};

/// Returns the number of replicas of each pool; 0 for a placeholder.
std::vector<std::size_t> replica_counts(const job::Spec& spec);

/// Reduces the counts to at most `most` in total, from the largest pools first. Each pool with
/// replicas keeps one, even if that exceeds `most`. 0 = no limit.
std::vector<std::size_t> limited_counts(std::vector<std::size_t> counts, std::size_t most);

/// Returns `counts` replicas of the job `local/id`. `trial` distinguishes the containers of one
/// trial from others.
Cluster plan_cluster(const std::vector<std::size_t>& counts,
                     const std::string& id,
                     const std::optional<std::string>& trial = {});

}  // namespace autopack::local
