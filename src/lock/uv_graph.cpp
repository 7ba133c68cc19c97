#include "lock/uv_graph.hpp"

#include "base/text.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace autopack::lock {

namespace {

constexpr std::size_t most_of_one_name{100};

/// Returns a table of strings as one text, for comparisons.
std::string flat(const toml::table* table) {
  std::string text;
  if (table != nullptr) {
    for (const auto& [key, value] : *table) {
      text += fmt::format("{}={}\n", key.str(), value.value_or(std::string{}));
    }
  }
  return text;
}

/// Returns the edges in `table` below `name`. uv normalises names, too.
std::vector<const toml::table*> named_edges(const Document& document,
                                            const toml::table* table,
                                            const std::string& name) {
  return table == nullptr ? std::vector<const toml::table*>{} : document.tables(*table, name);
}

}  // namespace

UvGraph::UvGraph(const Document& document) : document_{&document} {
  const auto& root = document.root();
  const char* const key = root.contains("distribution") ? "distribution" : "package";
  for (const auto* const table : document.tables(root, key)) {
    UvPackage package{.table = table,
                      .name = python::normalise_name(document.required(*table, "name")),
                      .version = document.text(*table, "version"),
                      .source = flat(document.table(*table, "source"))};
    auto& same = packages_[package.name];
    same.push_back(std::move(package));
    if (same.size() > most_of_one_name) {
      refuse(
          fmt::format("more than {} packages are called `{}`", most_of_one_name, same.front().name),
          document.place(*table));
    }
  }
}

std::vector<const UvPackage*> UvGraph::members() const {
  std::set<std::string> named;
  if (const auto* const manifest = document_->table(document_->root(), "manifest")) {
    const auto names = document_->texts(*manifest, "members");
    named.insert(names.begin(), names.end());
  }
  std::vector<const UvPackage*> members;
  for (const auto& [name, packages] : packages_) {
    for (const auto& package : packages) {
      const auto& source = package.source;
      const bool is_local = source.starts_with("editable=") || source.starts_with("virtual=") ||
                            source.starts_with("directory=");
      if (is_local && (named.empty() || named.contains(name))) {
        members.push_back(&package);
      }
    }
  }
  return members;
}

const UvPackage* UvGraph::project(const std::optional<std::string>& name) const {
  const auto all = members();
  const auto named =
      std::ranges::find_if(all, [&](const UvPackage* package) { return package->name == name; });
  const auto at_root = std::ranges::find_if(
      all, [](const UvPackage* package) { return package->source.ends_with("=.\n"); });
  return named != all.end() ? *named : at_root != all.end() ? *at_root : nullptr;
}

const UvPackage* UvGraph::find(const toml::table& edge, const Judge& judge) const {
  const auto name = python::normalise_name(document_->required(edge, "name"));
  const auto version = document_->text(edge, "version");
  const auto source = flat(document_->table(edge, "source"));
  std::vector<const UvPackage*> fitting;
  static const std::vector<UvPackage> none;
  const auto same = packages_.find(name);
  for (const auto& package : same == packages_.end() ? none : same->second) {
    if ((!version || package.version == version) && (source.empty() || package.source == source)) {
      fitting.push_back(&package);
    }
  }
  if (fitting.size() > 1) {
    std::erase_if(fitting, [&](const UvPackage* package) {
      return !judge.any_holds(document_->texts(*package->table, "resolution-markers"),
                              document_->place(*package->table));
    });
  }
  if (fitting.size() != 1) {
    refuse(fmt::format("{} named `{}` matches this dependency",
                       fitting.empty() ? "no package" : "more than one package", name),
           document_->place(edge), {"uv lock"});
  }
  return fitting.front();
}

std::vector<const toml::table*> UvGraph::edges_of(const UvNode& node) const {
  const auto& table = *node.package->table;
  if (node.group) {
    return named_edges(*document_, document_->table(table, "dev-dependencies"), *node.group);
  }
  return node.extra ? named_edges(*document_, document_->table(table, "optional-dependencies"),
                                  *node.extra)
                    : document_->tables(table, "dependencies");
}

std::vector<const toml::table*> UvGraph::manifest_edges(
    const std::vector<std::string>& groups) const {
  const auto* const manifest = document_->table(document_->root(), "manifest");
  if (manifest == nullptr) {
    return {};
  }
  auto edges = document_->tables(*manifest, "requirements");
  for (const auto& group : groups) {
    const auto more =
        named_edges(*document_, document_->table(*manifest, "dependency-groups"), group);
    edges.insert(edges.end(), more.begin(), more.end());
  }
  return edges;
}

}  // namespace autopack::lock
