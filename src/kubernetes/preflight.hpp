#pragma once

#include "base/error.hpp"
#include "job/job.hpp"
#include "kubernetes/api.hpp"
#include "kubernetes/objects.hpp"

namespace autopack::kubernetes {

/// Asks the cluster what it would refuse, without changing anything: dry runs of the object, of
/// each pool as a Job and as a Pod, the rights to follow and to end the job, its queue, priority
/// class, service account and pull secrets. Returns errors, warnings, and `unknown` for what the
/// user may not read.
Problems ask_cluster(Api& api, const job::Job& job, const ObjectOptions& options);

}  // namespace autopack::kubernetes
