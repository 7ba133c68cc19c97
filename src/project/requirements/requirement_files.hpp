#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <utility>
#include <vector>

namespace autopack::project {

/// A line for pip that is in no requirements file.
struct PipLine {
  std::string text{};
  std::string file{};
  int line{0};  ///< 1-based
};

/// A `# /// script` block of the program whose requirements are not installed.
struct UnreadBlock {
  std::string file{};
  int line{0};        ///< 1-based
  std::string who{};  ///< determines the installation: "`requirements.txt` says"
  std::vector<std::string> dependencies{};
};

/// Where a project lists its dependencies.
struct RequirementSources {
  std::vector<std::string> files{};  ///< for pip's `--requirement`
  std::vector<PipLine> pip_lines{};  ///< options in the pip part of an environment file
  /// Single requirements with their places: the pip part of an environment file.
  std::vector<std::pair<std::string, std::string>> requirements{};
  std::optional<CondaRequest> conda{};
  std::optional<Lock> lock{};
  std::optional<UnreadBlock> unread_block{};
};

/// Returns the lock or the files of the request; else `requirements.txt` at the root; else the
/// nearest file to the entry, or the one with a matching name (`requirements-gpu.txt`,
/// `requirements/base.txt`), unless the project's own package lists its dependencies; else a lock,
/// which replaces the package's list; else the pip part of conda's environment file. Reports files
/// that are not installed: several matching ones, files with the entry's name, lock files.
RequirementSources find_requirements(Findings& findings,
                                     const Request& request,
                                     const Project& project);

/// Returns the requirement files at the root and near the entry of `project` that are not
/// installed.
std::vector<std::string> unused_requirement_files(const Findings& findings, const Project& project);

/// Returns the distributions in the requirement file `file`; empty if it is unreadable.
std::vector<std::string> names_in_requirements(const source::Tree& tree, const std::string& file);

}  // namespace autopack::project
