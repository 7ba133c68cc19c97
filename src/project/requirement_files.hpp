#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <string>
#include <utility>
#include <vector>

namespace autopack::project {

/// A line for pip that stands in no requirements file.
struct PipLine {
  std::string text{};
  std::string file{};
  int line{0};  ///< 1-based
};

/// A `# /// script` block of the program whose requirements are not installed.
struct UnreadBlock {
  std::string file{};
  int line{0};        ///< 1-based
  std::string who{};  ///< says what is installed: "`requirements.txt` says"
  std::vector<std::string> dependencies{};
};

/// Where a project says what it needs.
struct RequirementSources {
  std::vector<std::string> files{};  ///< for pip's `--requirement`
  std::vector<PipLine> pip_lines{};  ///< options in the pip part of an environment file
  /// Single requirements with the place they stand at: the pip part of an environment file.
  std::vector<std::pair<std::string, std::string>> requirements{};
  std::optional<CondaRequest> conda{};
  std::optional<Lock> lock{};
  std::optional<UnreadBlock> unread_block{};
};

/// The lock or the files of the request; else `requirements.txt` at the root; else the nearest to
/// the entry, or the one that fits by its name (`requirements-gpu.txt`, `requirements/base.txt`),
/// unless the project's own package says what it needs; else a lock, which stands in for what the
/// package says; else the pip part of conda's environment file. Reports what is there and not
/// installed: several files that fit, files that are the entry's by their names, lock files.
RequirementSources find_requirements(Findings& findings,
                                     const Request& request,
                                     const Project& project);

/// The requirement files at the root and near the entry of `project` that are not installed.
std::vector<std::string> unused_requirement_files(const Findings& findings, const Project& project);

/// The distributions that the requirement file `file` names; empty when it cannot be read.
std::vector<std::string> names_in_requirements(const source::Tree& tree, const std::string& file);

}  // namespace autopack::project
