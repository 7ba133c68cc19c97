#pragma once

#include "job/cluster.hpp"
#include "job/job.hpp"
#include "kubernetes/objects.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>

namespace autopack::kubernetes {

/// Returns `text` so that the cluster's expansion of `$(NAME)` gives it back.
std::string escaped(const std::string& text);

/// The names of the variables in which a pod finds its place in the job.
struct PlaceFields {
  std::string rank{};   ///< field path of its rank
  std::string index{};  ///< field path of its index in the pool
};

/// Returns the environment of the pool's replicas, as Vertex AI gives it: what differs between
/// replicas comes from the fields of `place`.
nlohmann::json environment_of(const job::Pool& pool,
                              std::size_t pool_index,
                              const job::Cluster& cluster,
                              const std::optional<std::string>& output,
                              const PlaceFields& place);

/// Returns the pod template of a pool, before the user's part is merged over it.
nlohmann::json pod_template_of(const job::Job& job,
                               std::size_t pool_index,
                               const job::Cluster& cluster,
                               ObjectKind kind,
                               const ObjectOptions& options);

/// Returns the labels that a node must have for the pool, and reports what it has no label for.
nlohmann::json node_selector_of(const job::Job& job,
                                const job::Pool& pool,
                                const ObjectOptions& options);

/// Returns the resources that the pool's accelerators are: `nvidia.com/gpu`.
nlohmann::json limits_of(const job::Pool& pool);

/// Returns true if the pool names a file in /gcs.
bool uses_gcs_directory(const job::Pool& pool);

/// The names that an accelerator type of Vertex AI has elsewhere; empty if it is unknown.
struct AcceleratorNames {
  std::string gke{};                    ///< value of `cloud.google.com/gke-accelerator`
  std::vector<std::string> products{};  ///< values of `nvidia.com/gpu.product`
};

AcceleratorNames names_of_accelerator(const std::string& type);

/// Returns the accelerator of a TPU machine type on GKE: `tpu-v5-lite-podslice`; empty if unknown.
std::string tpu_accelerator(const std::string& machine_type);

/// Returns the number of chips of a TPU machine type (`ct5lp-hightpu-4t`); 0 if unknown.
std::int64_t tpu_chips(const std::string& machine_type);

bool is_tpu(const job::Pool& pool);

}  // namespace autopack::kubernetes
