#pragma once

#include "base/report.hpp"
#include "kubernetes/api.hpp"
#include "submit/cluster_jobs.hpp"

#include <memory>
#include <string>

namespace autopack::kubernetes {

struct JobsOptions {
  Api* api{nullptr};
  std::string name_space{};
  Reporter* reporter{nullptr};
  const Cancellation* cancellation{nullptr};
};

/// Returns the jobs that autopack created in one namespace of a cluster.
std::unique_ptr<submit::ClusterJobs> make_cluster_jobs(JobsOptions options);

}  // namespace autopack::kubernetes
