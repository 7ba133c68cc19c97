#pragma once

#include "project/project.hpp"
#include "python/marker.hpp"

#include <string>
#include <vector>

namespace autopack::project {

/// Distributions (PEP 503 names) that requirements, extra packages and the project's own metadata
/// name, and the top-level modules that local ones among them bring, as normalised names. Sorted.
struct NamedDistributions {
  std::vector<std::string> names{};
  std::vector<std::string> local{};  ///< those of `names` whose own metadata was read as well
  bool certain{true};                ///< false: something is named in a way that cannot be read
};

/// Lines whose markers do not hold in `environment` name nothing.
NamedDistributions named_distributions(const source::Tree& tree,
                                       const Project& project,
                                       const python::MarkerEnvironment& environment = {});

}  // namespace autopack::project
