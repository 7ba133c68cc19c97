#pragma once

#include "job/job.hpp"
#include "local/cluster.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

using Variables = std::map<std::string, std::string>;

/// What a replica's environment tells besides the cluster.
struct Surrounding {
  std::optional<std::string> project{};  ///< number, or id where the number is not known
  /// Base of AIP_MODEL_DIR and its siblings; none: they are not set.
  std::optional<std::string> output{};
  std::optional<std::string> trial{};  ///< `1`, `2`, ...
};

/// `CLUSTER_SPEC`, as Vertex AI sets it on every replica (distributed-training, CLUSTER_SPEC).
std::string cluster_spec(const job::Pool& pool,
                         const Cluster& cluster,
                         const Replica& replica,
                         const std::optional<std::string>& trial);

/// `TF_CONFIG`, which it sets where there is more than one replica.
std::string tf_config(const job::Pool& pool,
                      const Cluster& cluster,
                      const Replica& replica,
                      const std::optional<std::string>& trial);

/// What the service sets for `replica`, whose pool is `pool`.
Variables service_variables(const job::Pool& pool,
                            const Cluster& cluster,
                            const Replica& replica,
                            const Surrounding& surrounding);

/// `known` with the pool's own variables: `$(NAME)` in a value is one that stands before it or is
/// the service's, `$$(NAME)` those characters (EnvVar of the API).
Variables with_own(Variables known, const std::vector<job::Variable>& own);

}  // namespace autopack::local
