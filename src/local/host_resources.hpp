#pragma once

#include "engine/docker.hpp"
#include "job/job.hpp"
#include "job/replica_environment.hpp"
#include "local/cluster.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

using job::Surrounding;
using job::Variables;

/// The label of everything that belongs to local jobs; its value is the job's name.
inline constexpr auto job_label = "autopack.job";

/// The resources of this machine for a job.
struct HostResources {
  std::optional<std::string> project{};                ///< number or id
  std::map<std::string, std::string> buckets{};        ///< directories that replace buckets
  std::vector<engine::ContainerSpec::Mount> mounts{};  ///< additional ones of each replica
  std::optional<std::string> output{};       ///< directory that replaces baseOutputDirectory
  std::optional<std::string> credentials{};  ///< file with the program's credentials
  std::vector<std::string> gpus{};           ///< engine ids
  std::uint64_t memory{0};                   ///< limit in bytes for each replica; 0 = no limit
  double processors{0};                      ///< limit for each replica; 0 = no limit
  std::uint64_t shared_memory{0};            ///< bytes of /dev/shm of each replica
};

/// Reports fields that cannot work here (errors) or have no effect here (warnings).
Problems check_for_host(const job::Job& job, const HostResources& host);

/// Returns the directory in containers that replaces the job's baseOutputDirectory, or nothing
/// without one.
std::optional<std::string> output_in_containers(const job::Spec& spec);

/// Returns the container of a replica. `trial` as in Surrounding.
engine::ContainerSpec container_of(const job::Spec& spec,
                                   const Cluster& cluster,
                                   const Replica& replica,
                                   const HostResources& host,
                                   const std::optional<std::string>& trial = {});

}  // namespace autopack::local
