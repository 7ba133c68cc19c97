#pragma once

#include "base/report.hpp"
#include "image/source.hpp"
#include "slurm/connection.hpp"
#include "slurm/container.hpp"

#include <string>

namespace autopack::slurm {

/// Returns the name of a bundle, which identifies image and configuration.
std::string bundle_key(const image::Source& source, const std::string& configuration);

/// Ensures that the bundle of an image is in the shared directory `directory`, sends it if it is
/// missing, and returns its path there. Two runs may do it at once. Throws Error(remote).
std::string deliver(Connection& connection,
                    const image::Source& source,
                    const std::string& configuration,
                    const std::string& directory,
                    const ClusterUser& user,
                    Reporter& reporter);

}  // namespace autopack::slurm
