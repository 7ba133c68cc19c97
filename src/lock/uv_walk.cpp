#include "base/contains.hpp"
#include "base/text.hpp"
#include "lock/uv_graph.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

constexpr std::size_t most_active{2000};

/// Returns uv's name for an extra or group of a package in conflict markers: `extra-7-project-cpu`,
/// `group-7-project-dev`, `project-7-project`.
std::string conflict_name(const std::string& package,
                          const std::optional<std::string>& extra,
                          const std::optional<std::string>& group) {
  return group   ? fmt::format("group-{}-{}-{}", package.size(), package, *group)
         : extra ? fmt::format("extra-{}-{}-{}", package.size(), package, *extra)
                 : fmt::format("project-{}-{}", package.size(), package);
}

std::vector<std::string> normalised(std::vector<std::string> names) {
  std::ranges::transform(names, names.begin(), python::normalise_name);
  return names;
}

/// Walks the graph breadth first, along the edges whose markers hold.
class UvWalk {
public:
  /// `active` are the extras and groups that conflict markers may name.
  UvWalk(const UvGraph& graph, const Target& target, std::vector<std::string> active)
      : graph_{&graph},
        judge_{target, std::move(active)},
        has_conflicts_{graph.document().root().contains("conflicts")} {}

  void run(const std::vector<UvNode>& roots, const std::vector<std::string>& groups) {
    for (const auto& root : roots) {
      visit(root);
    }
    for (const auto* const edge : graph_->manifest_edges(groups)) {
      follow(*edge, edge->contains("extras") ? "extras" : "extra");
    }
    while (!queue_.empty()) {
      const auto node = std::move(queue_.front());
      queue_.pop_front();
      for (const auto* const edge : graph_->edges_of(node)) {
        follow(*edge, "extra");
      }
    }
  }

  UvReached take_reached() { return std::move(reached_); }

  const std::vector<std::string>& active() { return judge_.extras(); }

private:
  void visit(UvNode node) {
    if (seen_.insert(node).second) {
      queue_.push_back(std::move(node));
    }
  }

  void follow(const toml::table& edge, std::string_view extras_key) {
    const auto& document = graph_->document();
    const auto extras = normalised(document.texts(edge, extras_key));
    auto& active = judge_.extras();
    const auto before = active.size();
    if (has_conflicts_) {
      // The extras that an edge activates also affect its own marker.
      activate(python::normalise_name(document.required(edge, "name")), extras,
               document.place(edge));
    }
    if (!judge_.holds(document.text(edge, "marker"), document.place(edge))) {
      active.resize(before);
      return;
    }
    const auto* const package = graph_->find(edge, judge_);
    reached_[package].insert(extras.begin(), extras.end());
    visit({.package = package});
    for (const auto& extra : extras) {
      visit({.package = package, .extra = non_empty(extra)});
    }
  }

  void activate(const std::string& package,
                const std::vector<std::string>& extras,
                const std::string& place) {
    auto& active = judge_.extras();
    for (const auto& extra : extras) {
      auto name = conflict_name(package, non_empty(extra), std::nullopt);
      if (!contains(active, name)) {
        active.push_back(std::move(name));
      }
    }
    if (active.size() > most_active) {
      refuse(fmt::format("more than {} extras are needed", most_active), place);
    }
  }

  const UvGraph* graph_;
  Judge judge_;
  bool has_conflicts_;
  UvReached reached_;
  std::set<UvNode> seen_;
  std::deque<UvNode> queue_;
};

std::optional<std::string> normalised(const std::optional<std::string>& name) {
  return name ? std::optional{python::normalise_name(*name)} : std::nullopt;
}

/// Returns an item of `conflicts` as text if it is active.
std::optional<std::string> active_item(const Document& document,
                                       const toml::node& item,
                                       const std::vector<std::string>& active) {
  const auto* const table = item.as_table();
  if (table == nullptr) {
    return std::nullopt;
  }
  const auto package = python::normalise_name(document.text(*table, "package").value_or(""));
  const auto extra = normalised(document.text(*table, "extra"));
  const auto group = normalised(document.text(*table, "group"));
  const auto name = conflict_name(package, extra, group);
  if (!contains(active, name)) {
    return std::nullopt;
  }
  return group   ? fmt::format("the group `{}`", *group)
         : extra ? fmt::format("the extra `{}` of `{}`", *extra, package)
                 : fmt::format("the project `{}`", package);
}

void check_conflicts(const Document& document, const std::vector<std::string>& active) {
  const auto* const conflicts = document.root()["conflicts"].as_array();
  if (conflicts == nullptr) {
    return;
  }
  for (const auto& set : *conflicts) {
    std::vector<std::string> found;
    if (const auto* const items = set.as_array()) {
      for (const auto& item : *items) {
        if (auto words = active_item(document, item, active)) {
          found.push_back(std::move(*words));
        }
      }
    }
    if (found.size() > 1) {
      refuse(fmt::format("{} and {} exclude each other", found[0], found[1]), document.place(set));
    }
  }
}

}  // namespace

UvReached reach(const UvGraph& graph,
                const std::vector<UvNode>& roots,
                const std::vector<std::string>& groups,
                const Target& target) {
  std::vector<std::string> active;
  for (const auto& root : roots) {
    active.push_back(conflict_name(root.package->name, root.extra, root.group));
  }
  UvWalk first{graph, target, active};
  first.run(roots, groups);
  if (!graph.document().root().contains("conflicts")) {
    return first.take_reached();
  }
  // Items that became active late may change earlier decisions, so walk again.
  check_conflicts(graph.document(), first.active());
  UvWalk second{graph, target, first.active()};
  second.run(roots, groups);
  return second.take_reached();
}

}  // namespace autopack::lock
