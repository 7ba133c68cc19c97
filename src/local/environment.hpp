#pragma once

#include "job/job.hpp"
#include "local/cluster.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

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
std::string cluster_spec(const job::Pool& pool,
                         const Cluster& cluster,
                         const Replica& replica,
                         const std::optional<std::string>& trial);

/// Returns `TF_CONFIG`, which Vertex AI sets if there are several replicas.
std::string tf_config(const job::Pool& pool,
                      const Cluster& cluster,
                      const Replica& replica,
                      const std::optional<std::string>& trial);

/// Returns the service's variables for `replica`, whose pool is `pool`.
Variables service_variables(const job::Pool& pool,
                            const Cluster& cluster,
                            const Replica& replica,
                            const Surrounding& surrounding);

/// Adds the pool's own variables to `known`. `$(NAME)` in a value refers to an earlier variable or
/// one of the service; `$$(NAME)` is literal (EnvVar of the API).
Variables with_own(Variables known, const std::vector<job::Variable>& own);

}  // namespace autopack::local
