#pragma once

#include "cli/find_job.hpp"
#include "cli/following.hpp"

namespace autopack::cli {

/// Adds the flags of `jobs retry`.
void add_retry_flags(FlagSet& flags, std::optional<std::string>& accelerators, FollowFlags& follow);

/// Creates a job that ended for lack of capacity again in the next of its places, which are in
/// typed lists, else in its labels. Returns the exit status. Throws Error(usage) for a job that did
/// not end so, and Error(remote) if every place was tried.
int retry_job(Session& session, const JobChoice& choice, const FollowFlags& follow);

}  // namespace autopack::cli
