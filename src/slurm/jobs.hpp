#pragma once

#include "base/report.hpp"
#include "slurm/connection.hpp"
#include "submit/cluster_jobs.hpp"

#include <memory>
#include <string>

namespace autopack::slurm {

struct SlurmJobsOptions {
  std::shared_ptr<Connection> connection{};
  std::string shared_directory{};  ///< as read_shared_directory returns it
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
};

/// The jobs of a cluster: those in the shared directory, in other ones that were used, and those in
/// the queue.
std::unique_ptr<submit::ClusterJobs> make_slurm_jobs(SlurmJobsOptions options);

/// The parts of `slurm/LOGIN/ID`.
struct SlurmName {
  std::string login{};  ///< `-`: the commands are here
  std::string id{};
};

/// Returns nothing for anything else.
std::optional<SlurmName> parse_slurm_name(const std::string& name);

}  // namespace autopack::slurm
