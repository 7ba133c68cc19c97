#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirements/requirement_inputs.hpp"
#include "project/requirements/requirement_lines.hpp"
#include "python/requirement.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// Returns a URL or path for a plan: without credentials, with hashed values of a query.
std::string shown_source(std::string_view text);

/// Reads requirement files, and everything that they name, into a project.
class RequirementsReader {
public:
  RequirementsReader(Findings& findings, const Request& request, Project& project)
      : findings_{&findings}, request_{&request}, project_{&project}, inputs_{findings, project} {}

  /// `origin` is where it is named; empty for the first file.
  void read(const std::string& path, bool constraint, const std::string& origin);
  /// Reads a line that is in no requirements file: its requirement, and its options as more words
  /// for pip.
  void read_pip_line(const std::string& text, const RequirementPosition& position);
  /// Reads the constraints in pip's settings.
  void read_user_constraint(const std::string& named);

private:
  void read_line(const RequirementLine& line, const RequirementPosition& position);
  void read_option(const std::string& name,
                   const std::string& value,
                   const RequirementPosition& position);
  void read_nested(std::string_view value, bool constraint, const RequirementPosition& position);
  void read_find_links(std::string_view value, const RequirementPosition& position);
  void read_requirement(python::Requirement requirement,
                        bool editable,
                        const RequirementPosition& position);
  python::Requirement parse_editable(const std::string& value) const;
  bool move_inside(python::Requirement& requirement) const;
  void read_path(const python::Requirement& requirement,
                 bool editable,
                 bool is_moved,
                 const RequirementPosition& position);

  /// Returns true for the project's own name, which never means a distribution of an index.
  bool is_project(const python::Requirement& requirement) const {
    return project_->package && requirement.kind == python::Requirement::Kind::named &&
           project_->package->is_called(requirement.name);
  }

  void read_self(const python::Requirement& requirement, const RequirementPosition& position);
  void edit(const RequirementPosition& position, std::string text);
  void read_hash(const std::string& value, const RequirementPosition& position);
  void note_text(const std::string& text);

  Findings* findings_;
  const Request* request_;
  Project* project_;
  RequirementInputs inputs_;
  std::vector<std::string> stack_;
  std::set<std::pair<std::string, bool>> read_;
};

}  // namespace autopack::project
