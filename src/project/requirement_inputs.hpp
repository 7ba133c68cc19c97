#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// Where a line of a requirements file stands, and how pip reads it.
struct RequirementPosition {
  std::string file{};
  int first{0};
  int last{0};
  bool constraint{false};
  bool is_alone{true};  ///< nothing else stands on these lines

  /// `FILE:LINE`.
  std::string str() const { return file + ":" + std::to_string(first); }
};

/// The files and directories that requirements name: what the installation reads.
class RequirementInputs {
public:
  RequirementInputs(Findings& findings, Project& project)
      : findings_{&findings}, project_{&project} {}

  /// `path` below `directory` as a path of the tree; none, with a finding, when it leaves the tree.
  std::optional<std::string> inside(std::string_view path,
                                    std::string_view directory,
                                    const RequirementPosition& position) const;
  /// Makes what is at `path` an input. False, with a finding, when it is missing, ignored or leads
  /// outside; `origin` is where it is named.
  bool take(const std::string& path, const Place& place, const std::string& origin) const;

private:
  Findings* findings_;
  Project* project_;
};

/// Leaves out the inputs that a directory among them holds anyway.
void drop_covered_inputs(const Findings& findings, Project& project);

}  // namespace autopack::project
