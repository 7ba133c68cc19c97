#pragma once

#include "lock/document.hpp"
#include "lock/judge.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace autopack::lock {

/// A package of `uv.lock`.
struct UvPackage {
  const toml::table* table{nullptr};
  std::string name{};                    ///< PEP 503
  std::optional<std::string> version{};  ///< as written
  std::string source{};                  ///< its table `source` as one text
};

/// A package, or one of its extras or groups.
struct UvNode {
  const UvPackage* package{nullptr};
  std::optional<std::string> extra{};
  std::optional<std::string> group{};

  auto operator<=>(const UvNode&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The packages of `uv.lock` and their dependencies.
class UvGraph {
public:
  explicit UvGraph(const Document& document);

  /// Returns the packages whose source is a directory of the workspace; if the manifest names some
  /// of them, only those.
  std::vector<const UvPackage*> members() const;
  /// Returns the member with that name, else the one in the lock's own directory, or null.
  const UvPackage* project(const std::optional<std::string>& name) const;

  /// Returns the target of an edge; throws Error(project) if there is more than one, or none.
  const UvPackage* find(const toml::table& edge, const Judge& judge) const;
  /// Returns the dependencies of a package, of an extra or of a group.
  std::vector<const toml::table*> edges_of(const UvNode& node) const;
  /// Returns the dependencies of the workspace that belong to no package, including those of
  /// `groups`.
  std::vector<const toml::table*> manifest_edges(const std::vector<std::string>& groups) const;

  const Document& document() const { return *document_; }

private:
  const Document* document_;
  std::map<std::string, std::vector<UvPackage>> packages_;
};

/// Packages with the extras that are needed of them.
using UvReached = std::map<const UvPackage*, std::set<std::string>>;

/// Returns everything that `roots` and the manifest need; `groups` are those of the manifest.
/// Throws Error(project) if extras or groups that exclude each other are needed together.
UvReached reach(const UvGraph& graph,
                const std::vector<UvNode>& roots,
                const std::vector<std::string>& groups,
                const Target& target);

}  // namespace autopack::lock
