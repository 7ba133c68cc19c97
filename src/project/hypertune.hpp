#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

namespace autopack::project {

/// True when a requirement, the package's metadata or an import names cloudml-hypertune, by which a
/// trial reports its metrics.
bool names_hypertune(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
