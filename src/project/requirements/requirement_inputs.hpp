#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// The position of a line in a requirements file, and how pip reads it.
struct RequirementPosition {
  std::string file{};
  int first{0};
  int last{0};
  bool constraint{false};
  bool is_alone{true};  ///< these lines contain nothing else

  /// Returns `FILE:LINE`.
  std::string str() const { return file + ":" + std::to_string(first); }
};

/// The files and directories in requirements, which the installation reads.
class RequirementInputs {
public:
  RequirementInputs(Findings& findings, Project& project)
      : findings_{&findings}, project_{&project} {}

  /// Returns `path` below `directory` as a path of the tree; reports a finding and returns nothing
  /// if it leaves the tree.
  std::optional<std::string> inside(std::string_view path,
                                    std::string_view directory,
                                    const RequirementPosition& position) const;
  /// Adds `path` to the inputs. Reports a finding and returns false if it is missing, ignored or
  /// leads outside; `origin` is where it is named.
  bool take(const std::string& path, const Place& place, const std::string& origin) const;

private:
  Findings* findings_;
  Project* project_;
};

/// Removes inputs below a directory that is also an input.
void drop_covered_inputs(const Findings& findings, Project& project);

}  // namespace autopack::project
