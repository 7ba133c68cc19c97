#pragma once

#include "job/job.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// One running program of a job.
struct Replica {
  std::size_t pool{0};
  std::size_t index{0};     ///< in its pool
  std::size_t rank{0};      ///< among all of the job
  std::string name{};       ///< as logs name it: `workerpool1-0`
  std::string host{};       ///< as the others reach it: `cmle-training-workerpool1-0a1b2c3d4e-0`
  std::string container{};  ///< the engine's name for it

  bool is_primary() const { return rank == 0; }
};

/// The replicas of a job, the primary first.
struct Cluster {
  std::string job{};      ///< `local/ID`
  std::string network{};  ///< the engine's name for it
  std::vector<Replica> replicas{};
};

/// How many replicas each pool has; 0 for one that keeps a place free.
std::vector<std::size_t> replica_counts(const job::Spec& spec);

/// The same with at most `most` in all, taken from the largest pools first; each pool that has
/// replicas keeps one, even when that is more. 0 = no limit.
std::vector<std::size_t> limited_counts(std::vector<std::size_t> counts, std::size_t most);

/// The replicas of the job `local/id`, as many as `counts` says. `trial` sets the containers of one
/// trial apart from others.
Cluster plan_cluster(const std::vector<std::size_t>& counts,
                     const std::string& id,
                     const std::optional<std::string>& trial = {});

}  // namespace autopack::local
