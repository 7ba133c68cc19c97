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

/// A package, with one of its extras, or with one of its groups.
struct UvNode {
  const UvPackage* package{nullptr};
  std::optional<std::string> extra{};
  std::optional<std::string> group{};

  auto operator<=>(const UvNode&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The packages of `uv.lock` and what they need of each other.
class UvGraph {
public:
  explicit UvGraph(const Document& document);

  /// The packages whose source is a directory of the workspace; of those, the ones that the
  /// manifest names when it names some.
  std::vector<const UvPackage*> members() const;
  /// The member named `name`, else the one at the lock's own directory; null when there is none.
  const UvPackage* project(const std::optional<std::string>& name) const;

  /// The package that an edge leads to; throws Error(project) when it is not the only one.
  const UvPackage* find(const toml::table& edge, const Judge& judge) const;
  /// What a package needs by itself, for an extra or for a group.
  std::vector<const toml::table*> edges_of(const UvNode& node) const;
  /// What the workspace needs without a package of its own, with some of its groups.
  std::vector<const toml::table*> manifest_edges(const std::vector<std::string>& groups) const;

  const Document& document() const { return *document_; }

private:
  const Document* document_;
  std::map<std::string, std::vector<UvPackage>> packages_;
};

/// Packages with the extras by which they are needed.
using UvReached = std::map<const UvPackage*, std::set<std::string>>;

/// Everything that `roots` and the manifest need; `groups` are those of the manifest. Throws
/// Error(project) when extras or groups that exclude each other are needed together.
UvReached reach(const UvGraph& graph,
                const std::vector<UvNode>& roots,
                const std::vector<std::string>& groups,
                const Target& target);

}  // namespace autopack::lock
