#pragma once

#include "executor/image_view.hpp"
#include "executor/python_facts.hpp"

#include <string>
#include <vector>

namespace autopack::executor {

/// Distributions and their files, in the order of sys.path.
struct FoundDistributions {
  std::vector<InstalledDistribution> installed{};
  InstalledFiles files{};                ///< of each distribution
  InstalledRequirements requirements{};  ///< of each distribution
  /// The directories that were searched: the given ones, and those in `.pth` files.
  std::vector<std::string> search_path{};
};

/// Returns the distributions in `search_path`. Its last directories are the `site_directories`,
/// whose `.pth` files apply. A distribution in the directories of `scheme` can be removed if there
/// is a list of its files.
FoundDistributions find_distributions(ImageView& view,
                                      const std::vector<std::string>& search_path,
                                      const std::vector<std::string>& site_directories,
                                      const python::Scheme& scheme);

}  // namespace autopack::executor
