#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <vector>

namespace autopack::project {

/// Adds an error for each requirement that contradicts a pin of the same package, and for those
/// that pip refuses beside others with hashes, whatever is installed.
void check_listed_requirements(Findings& findings, const Project& project);

/// Returns the first listed requirement that is pinned, or pins, so that no version fits it and
/// `requirement`; nullptr if there is none.
const ListedRequirement* contradicted_requirement(const Project& project,
                                                  const python::Requirement& requirement);

/// Returns the requirements for an index that have no hash although pip wants hashes. pip refuses
/// those that the executor image does not have.
std::vector<const ListedRequirement*> requirements_without_hash(const Project& project);

/// Returns the finding that pip refuses `requirements`, which are not empty, without a hash.
Problem missing_hashes(const Project& project,
                       const std::vector<const ListedRequirement*>& requirements);

}  // namespace autopack::project
