#pragma once

#include "lock/locked_set.hpp"
#include "packaging/settings.hpp"
#include "python/requirement.hpp"

#include <string>
#include <vector>

namespace autopack::verify {

// A provenance that no given key signed is the word of whoever can push to the repository. It may
// say how to rebuild, but it chooses nothing that runs on this machine, and no place to fetch it
// from: the project and the user do.

/// Returns the settings of `recorded` that `own` has otherwise, as `--exclude=a,b` or
/// `no --exclude`; without the executor image, which is compared by its digest, and without the
/// places of project and result.
std::vector<std::string> foreign_settings(const packaging::Settings& recorded,
                                          const packaging::Settings& own);

/// Returns those values in `recorded` that `own` does not have and that name code by more than its
/// name in an index, or change how it is built: requirements by a URL or a path, local packages,
/// variables of builds. Each is the flag that allows it, `--requirements=git+https://...`.
std::vector<std::string> foreign_sources(const packaging::Settings& recorded,
                                         const packaging::Settings& own);

/// The packages of which verify asks where they come from.
enum class Asked { all, local_repositories };

/// Returns the packages of `set` that come from a repository, a URL or a path that no requirement
/// of `named` names, as ``name` from `git+https://...``.
std::vector<std::string> foreign_packages(const lock::LockedSet& set,
                                          const std::vector<python::Requirement>& named,
                                          Asked asked);

}  // namespace autopack::verify
