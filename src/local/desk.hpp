#pragma once

#include "engine/docker.hpp"
#include "job/job.hpp"
#include "local/cluster.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// The label of what belongs to local jobs, whose value is the job's name.
inline constexpr auto job_label = "autopack.job";

/// What this machine gives to a job.
struct Desk {
  std::optional<std::string> project{};          ///< number or id
  std::map<std::string, std::string> buckets{};  ///< directories by the buckets they stand for
  std::vector<engine::ContainerSpec::Mount> mounts{};  ///< further ones of each replica
  std::optional<std::string> output{};       ///< directory that stands for baseOutputDirectory
  std::optional<std::string> credentials{};  ///< file with the program's credentials
  std::vector<std::string> gpus{};           ///< ids for the engine
  std::uint64_t memory{0};                   ///< bytes of each replica at most; 0 = no limit
  double processors{0};                      ///< of each replica at most; 0 = no limit
  std::uint64_t shared_memory{0};            ///< bytes of /dev/shm of each replica
};

/// What cannot run here (errors), and what has no meaning here (warnings).
Problems check_for_desk(const job::Job& job, const Desk& desk);

/// The directory in containers that stands for the job's baseOutputDirectory; none without one.
std::optional<std::string> output_in_containers(const job::Spec& spec);

/// The container of a replica. `trial` as in Surrounding.
engine::ContainerSpec container_of(const job::Spec& spec,
                                   const Cluster& cluster,
                                   const Replica& replica,
                                   const Desk& desk,
                                   const std::optional<std::string>& trial = {});

}  // namespace autopack::local
