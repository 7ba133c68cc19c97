#pragma once

#include "project/project.hpp"
#include "source/tree.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace autopack::project {

/// What a decision about a tree rests on. Paths are those of the tree.
struct LookedAt {
  std::set<std::string> read{};    ///< files whose text counts
  std::set<std::string> asked{};   ///< whose existence and kind count
  std::set<std::string> listed{};  ///< directories whose packages count, of the root modules too
};

/// What an editable installation of the project's own package leaves behind, where its files tell
/// that and no build has to run.
struct StaticInstallation {
  /// Why its build has to run, in words; the rest is empty then.
  std::optional<std::string> reason{};
  std::string name{};      ///< as it is written
  std::string version{};   ///< in PEP 440's normal form
  std::string metadata{};  ///< METADATA, as the core metadata specification has it
  std::optional<std::string> entry_points{};      ///< entry_points.txt
  std::map<std::string, std::string> licenses{};  ///< texts by their paths
  std::string directory{};                        ///< of the tree, that modules are looked for in
  std::set<std::string> top_level{};  ///< packages and modules in it; empty: the backend tells none
  bool finds_top_level_only{false};   ///< nothing else in it can be imported
  LookedAt looked{};
};

/// Whether the package of `project`, whose files are those of `tree`, can be installed without
/// running its build, and what comes of it. Where in doubt it cannot.
StaticInstallation static_installation(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
