#pragma once

#include "executor/image_view.hpp"
#include "executor/python_facts.hpp"

#include <string>
#include <vector>

namespace autopack::executor {

/// Distributions with their files, in the order of sys.path.
struct FoundDistributions {
  std::vector<InstalledDistribution> installed{};
  InstalledFiles files{};  ///< of each of them
  /// The directories that were looked into: those given, and those that `.pth` files name.
  std::vector<std::string> search_path{};
};

/// What is installed in `search_path`, whose last directories are the `site_directories`, whose
/// `.pth` files count. What lies in the directories of `scheme` can be taken away when there is a
/// list of its files.
FoundDistributions find_distributions(ImageView& view,
                                      const std::vector<std::string>& search_path,
                                      const std::vector<std::string>& site_directories,
                                      const python::Scheme& scheme);

}  // namespace autopack::executor
