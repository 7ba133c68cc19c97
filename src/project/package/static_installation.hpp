#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace autopack::project {

/// The inputs of a decision about a tree. Paths are those of the tree.
struct LookedAt {
  std::set<std::string> read{};    ///< files whose text matters
  std::set<std::string> asked{};   ///< whose existence and kind matter
  std::set<std::string> listed{};  ///< directories whose packages matter; for the root, modules too
};

/// The result of an editable installation of the project's own package, if its files determine it
/// without a build.
struct StaticInstallation {
  /// Why its build has to run; then the rest is empty.
  std::optional<std::string> reason{};
  std::string name{};                             ///< as written
  std::string version{};                          ///< in PEP 440's normal form
  std::string metadata{};                         ///< METADATA, by the core metadata specification
  std::optional<std::string> entry_points{};      ///< entry_points.txt
  std::map<std::string, std::string> licenses{};  ///< texts by their paths
  std::string directory{};                        ///< of the tree, in which modules are found
  std::set<std::string> top_level{};  ///< packages and modules in it; empty: not listed by the
                                      ///< backend
  bool finds_top_level_only{false};   ///< nothing else in it can be imported
  LookedAt looked{};
};

/// Returns whether the package of `project`, whose files are those of `tree`, can be installed
/// without running its build, and the result. In doubt it cannot.
StaticInstallation static_installation(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
