#pragma once

#include "job/job.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace autopack::job {

/// A running program of a job.
struct Replica {
  std::size_t pool{0};
  std::size_t index{0};     ///< in its pool
  std::size_t rank{0};      ///< in the whole job
  std::string name{};       ///< the name in logs: `workerpool1-0`
  std::string host{};       ///< its name in the network: `cmle-training-workerpool1-0a1b2c3d4e-0`
  std::string container{};  ///< its name where it runs; empty if nobody needs it

  bool is_primary() const { return rank == 0; }
};

/// The replicas of a job, the primary first.
struct Cluster {
  std::string job{};      ///< the job's name: `local/ID`
  std::string network{};  ///< the name of its network where it runs; the `cloud` of TF_CONFIG
  std::vector<Replica> replicas{};
};

/// Returns the number of replicas of each pool; 0 for an empty one.
std::vector<std::size_t> replica_counts(const Spec& spec);

}  // namespace autopack::job
