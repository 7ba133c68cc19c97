#pragma once

#include "project/project.hpp"
#include "python/marker.hpp"
#include "source/tree.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// The distributions (PEP 503 names) in requirements, extra packages and the project's own
/// metadata, and the top-level modules of local ones, as normalised names. Sorted.
struct NamedDistributions {
  std::vector<std::string> names{};
  std::vector<std::string> local{};  ///< those of `names` whose own metadata was read
  bool certain{true};                ///< false: some names cannot be read
};

/// Ignores lines whose markers are false in `environment`.
NamedDistributions named_distributions(const source::Tree& tree,
                                       const Project& project,
                                       const python::MarkerEnvironment& environment = {});

/// Returns true if a requirement, the package's metadata or an import names cloudml-hypertune, with
/// which a trial reports its metrics.
bool names_hypertune(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
