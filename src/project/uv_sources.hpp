#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirement.hpp"
#include "project/toml.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::project {

/// Applies `[tool.uv.sources]`, which pip does not read, to what a project asks for.
class UvSources {
public:
  /// `document` is the root's pyproject.toml and outlives this.
  UvSources(Findings& findings, const Request& request, const toml::table& document);

  /// Adds to `requirements` what pip must be asked for in place of `text`, a requirement of the
  /// root. Packages of the workspace and local directories become members instead.
  void apply(const std::string& text, std::vector<std::string>& requirements);

  /// The members so far, and the members that those need, as in Package::members.
  std::vector<std::string> members() const;

  /// Warnings of sources that pip does not follow. They are wrong where a lock is installed, which
  /// has followed them.
  const Problems& unread() const { return unread_; }

private:
  /// A pyproject.toml whose requirements are read.
  struct Scope {
    std::string directory{};
    std::string file{};
    const toml::table* sources{nullptr};
    bool is_resolved{false};  ///< by pip, when it installs the package of `directory`
  };

  struct Source {
    const toml::node* node{nullptr};
    const Scope* scope{nullptr};
  };

  void apply_in(const Scope& scope,
                const std::string& text,
                std::vector<std::string>& requirements);
  Source find(const Scope& scope, const std::string& name) const;
  void report_unread(const Source& source, const std::string& name);
  bool add_member(const Source& source,
                  const Requirement& requirement,
                  std::vector<std::string>& requirements);
  void read_member(const std::string& directory,
                   const toml::table& source,
                   const std::set<std::string>& extras,
                   std::vector<std::string>& requirements);
  void report_missing_member(const Source& source, const std::string& name);
  bool is_extra_package(const std::string& path) const;
  std::optional<std::string> find_member(const std::string& name) const;
  std::string name_in(const std::string& file) const;

  Findings& findings_;
  const Request& request_;
  const toml::table& document_;
  Scope root_;
  std::vector<std::string> workspace_;
  std::map<std::string, std::set<std::string>> members_;  ///< extras by directory
  std::set<std::string> seen_;  ///< directories that were read, with their extras
  Problems unread_;
};

/// Warns of what pyproject.toml says only to its own tool, unless a lock is installed, which has
/// followed it. An index that pip knows in another way does not count.
void report_unread_sources(Findings& findings, const Request& request, const Project& project);

/// The indexes that pyproject.toml names for its own tool and that may hold any package.
std::vector<NamedIndex> indexes_named_in(const toml::table& document);

}  // namespace autopack::project
