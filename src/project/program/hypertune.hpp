#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

namespace autopack::project {

/// Returns true if a requirement, the package's metadata or an import names cloudml-hypertune, with
/// which a trial reports its metrics.
bool names_hypertune(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
