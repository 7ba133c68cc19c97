#pragma once

#include "job/candidates.hpp"
#include "pipeline/submission.hpp"

#include <functional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// A place of a request with several, and the request and the job for it.
struct PlannedPlace {
  job::Candidate candidate{};
  SubmissionRequest request{};
  job::Job job{};
};

/// Returns the request for one of its places.
SubmissionRequest request_for(const SubmissionRequest& request, const job::Candidate& candidate);

/// Asks about the quotas of jobs; returns the findings about each.
using AskQuotas =
    std::function<std::vector<Problems>(const std::vector<preflight::PlannedJob>& jobs)>;

/// Returns `candidates` of `request` in order, without those that a rule refuses or that `ask` (may
/// be empty) finds without quota; a warning reports each. Errors that all places share are left to
/// check(). Throws Error with every reason if no place is left.
std::vector<PlannedPlace> find_places(Services& services,
                                      const SubmissionRequest& request,
                                      const std::vector<job::Candidate>& candidates,
                                      const AskQuotas& ask);

/// Copies the pushed image `uri` to its name for a place; see publish::copy_image.
void copy_to_place(Services& services, const std::string& uri, const std::string& name);

}  // namespace autopack::pipeline
