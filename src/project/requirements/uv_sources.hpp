#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/toml.hpp"
#include "python/requirement.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::project {

/// Applies `[tool.uv.sources]` to the requirements of a project.
class UvSources {
public:
  /// `document` is the root's pyproject.toml and must outlive this; messages name `table` as the
  /// place of its sources.
  UvSources(Findings& findings,
            const Request& request,
            const toml::table& document,
            std::string table = "tool.uv.sources");

  /// Adds the replacement of `text`, a requirement of the root, to `requirements`. Packages
  /// of the workspace and local directories become members instead.
  void apply(const python::WrittenRequirement& written,
             std::vector<python::WrittenRequirement>& requirements);

  /// Returns the members so far, and their own members, as in Package::members.
  std::vector<std::string> members() const;

  /// Returns warnings about sources that pip does not read, by the package (PEP 503), without their
  /// beginning `pip does not read`. They do not apply if a lock is installed, which has resolved
  /// them.
  const std::map<std::string, Problem>& unread() const { return unread_; }

private:
  /// A pyproject.toml whose requirements are read.
  struct Scope {
    std::string directory{};
    std::string file{};
    const toml::table* sources{nullptr};
    bool is_resolved{false};  ///< pip resolves it when it installs the package of `directory`
  };

  struct Source {
    const toml::node* node{nullptr};
    const Scope* scope{nullptr};
  };

  void apply_in(const Scope& scope,
                const python::WrittenRequirement& written,
                std::vector<python::WrittenRequirement>& requirements);
  Source find(const Scope& scope, const std::string& name) const;
  void report_unread(const Source& source, const std::string& name);
  bool add_member(const Source& source,
                  const python::Requirement& requirement,
                  std::vector<python::WrittenRequirement>& requirements);
  void read_member(const std::string& directory,
                   const toml::table& source,
                   const std::set<std::string>& extras,
                   std::vector<python::WrittenRequirement>& requirements);
  void report_missing_member(const Source& source, const std::string& name);
  bool is_extra_package(const std::string& path) const;
  std::optional<std::string> find_member(const std::string& name) const;
  std::string name_in(const std::string& file) const;

  Findings& findings_;
  const Request& request_;
  const toml::table& document_;
  std::string table_;
  Scope root_;
  std::vector<std::string> workspace_;
  std::map<std::string, std::set<std::string>> members_;  ///< extras by directory
  std::set<std::string> seen_;  ///< directories that were read, with their extras
  std::map<std::string, Problem> unread_;
};

/// Sets Project::uv and Project::unread_by_pip, and warns about sources in pyproject.toml that only
/// its own tool reads, unless a lock is installed, which has resolved them. Ignores an index that
/// the settings or requirements name too.
void report_unread_sources(Findings& findings, const Request& request, Project& project);

/// Returns `requirement` for pip, from an entry of `[tool.uv.sources]`; nothing if `source` is
/// neither a repository nor a URL.
std::optional<std::string> from_source(const python::Requirement& requirement,
                                       const toml::table& source);

/// Returns the indexes in pyproject.toml for its own tool that may contain any package.
std::vector<NamedIndex> indexes_named_in(const toml::table& document);

}  // namespace autopack::project
