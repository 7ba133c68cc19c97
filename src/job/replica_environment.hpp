#pragma once

#include "job/cluster.hpp"
#include "job/pool.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

// The environment that Vertex AI gives a job's replicas. Every submitter gives the same.

namespace autopack::job {

using Variables = std::map<std::string, std::string>;

/// The parts of a replica's environment besides the cluster.
struct Surrounding {
  std::optional<std::string> project{};  ///< number, or id if the number is unknown
  /// The base of AIP_MODEL_DIR and its siblings; if absent, they are not set.
  std::optional<std::string> output{};
  std::optional<std::string> trial{};  ///< `1`, `2`, ...
};

/// Returns `CLUSTER_SPEC`, as Vertex AI sets it on every replica (distributed-training,
/// CLUSTER_SPEC).
std::string cluster_spec(const Pool& pool,
                         const Cluster& cluster,
                         const Replica& replica,
                         const std::optional<std::string>& trial);

/// Returns `TF_CONFIG`, which Vertex AI sets if there are several replicas.
std::string tf_config(const Pool& pool,
                      const Cluster& cluster,
                      const Replica& replica,
                      const std::optional<std::string>& trial);

/// Returns the service's variables for `replica`, whose pool is `pool`.
Variables service_variables(const Pool& pool,
                            const Cluster& cluster,
                            const Replica& replica,
                            const Surrounding& surrounding);

/// Adds the pool's own variables to `known`. `$(NAME)` in a value refers to an earlier variable or
/// one of the service; `$$(NAME)` is literal (EnvVar of the API).
Variables with_own(Variables known, const std::vector<Variable>& own);

}  // namespace autopack::job
