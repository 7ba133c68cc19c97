#include "project/requirements/poetry_tables.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "python/name.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

namespace {

using python::Specifier;
using python::SpecifierSet;

/// Returns `alternatives` as one set of conditions, `>=1.20,<3.0` for `^1.20 || ^2.0`; nothing if
/// there is a gap between them.
std::optional<SpecifierSet> merged(const std::vector<SpecifierSet>& alternatives) {
  if (alternatives.size() == 1) {
    return alternatives.front();
  }
  std::vector<std::pair<python::Version, python::Version>> ranges;
  for (const auto& one : alternatives) {
    const auto& all = one.all();
    if (all.size() != 2 || all[0].op != Specifier::Operator::at_least ||
        all[1].op != Specifier::Operator::less) {
      return std::nullopt;
    }
    ranges.emplace_back(all[0].version, all[1].version);
  }
  std::ranges::sort(ranges);
  auto [first, end] = ranges.front();
  for (const auto& [lower, upper] : ranges) {
    if (lower > end) {
      return std::nullopt;
    }
    end = std::max(end, upper);
  }
  return SpecifierSet{{{.op = Specifier::Operator::at_least, .version = first},
                       {.op = Specifier::Operator::less, .version = end}}};
}

/// Returns the marker for conditions on the version of Python: `python_version >= '3.8'`.
std::string python_marker(const SpecifierSet& versions) {
  std::vector<std::string> terms;
  for (const auto& one : versions.all()) {
    const bool is_exact = one.version.release.size() > 2 && !one.any_below;
    const auto text = one.str();
    const auto begin = text.find_first_not_of("=<>!~");
    terms.push_back(fmt::format("{} {} '{}'", is_exact ? "python_full_version" : "python_version",
                                text.substr(0, begin), text.substr(begin)));
  }
  return join(terms, " and ");
}

class PoetryTables {
public:
  /// `poetry` is `[tool.poetry]` of `document`, and must outlive it.
  PoetryTables(Findings& findings, toml::table document, const toml::table& poetry)
      : findings_{findings}, poetry_{poetry}, made_{std::move(document)} {}

  toml::table run() {
    if (const auto* const dependencies = poetry_["dependencies"].as_table()) {
      read_all(*dependencies);
    }
    toml::table extras;
    if (const auto* const wanted = poetry_["extras"].as_table()) {
      for (const auto& [extra, names] : *wanted) {
        extras.insert(extra, extra_requirements(names));
      }
    }
    toml::table tool{*made_["tool"].as_table()};
    toml::table uv{{"sources", std::move(sources_)}};
    if (const auto* const indexes = poetry_.get("source")) {
      uv.insert("index", *indexes);
    }
    tool.insert_or_assign("uv", std::move(uv));
    made_.insert_or_assign("tool", std::move(tool));
    made_.insert_or_assign("project", toml::table{{"dependencies", std::move(main_)},
                                                  {"optional-dependencies", std::move(extras)}});
    return std::move(made_);
  }

  /// Returns the requirements of `[tool.poetry.NAME]`.
  toml::array group(const std::string& name, const toml::node_view<const toml::node>& table) {
    place_ = "pyproject.toml tool.poetry." + printable(name);
    if (const auto* const dependencies = table.as_table()) {
      read_all(*dependencies);
    }
    for (const auto& [key, source] : sources_) {
      refuse(std::string{key.str()}, "a group's dependency is read from the indexes only");
    }
    return std::move(main_);
  }

private:
  struct Optional {
    std::string name{};  ///< PEP 503
    std::string requirement{};
  };

  toml::array extra_requirements(const toml::node& names) const {
    toml::array all;
    for (const auto& one : strings_of(toml::node_view<const toml::node>{names})) {
      for (const auto& [name, requirement] : optional_) {
        if (name == python::normalise_name(one)) {
          all.push_back(requirement);
        }
      }
    }
    return all;
  }

  void read_all(const toml::table& dependencies) {
    for (const auto& [name, value] : dependencies) {
      if (python::normalise_name(name.str()) != "python") {
        read(std::string{name.str()}, value);
      }
    }
  }

  void read(const std::string& name, const toml::node& value) {
    if (const auto* const alternatives = value.as_array()) {
      for (const auto& one : *alternatives) {
        read(name, one);
      }
    } else if (const auto constraint = value.value<std::string>()) {
      add(name, toml::table{{"version", *constraint}});
    } else if (const auto* const table = value.as_table()) {
      add(name, *table);
    } else {
      refuse(name, "it is neither a version nor a table");
    }
  }

  void refuse(const std::string& name, const std::string& reason) {
    findings_.error(fmt::format("cannot read the dependency `{}`: {}", printable(name), reason),
                    place_, {"`poetry lock` of Poetry 2 writes a lock that is read"});
  }

  void add(const std::string& name, const toml::table& entry) {
    const auto versions = constraint_of(name, entry, "version");
    const auto markers = markers_of(name, entry);
    if (!versions || !markers) {
      return;
    }
    const auto extras = strings_of(entry["extras"]);
    auto text = name + (extras.empty() ? "" : "[" + join(extras, ",") + "]") + versions->str() +
                (markers->empty() ? "" : " ; " + *markers);
    add_source(name, entry);
    if (entry["optional"].value_or(false)) {
      optional_.push_back({.name = python::normalise_name(name), .requirement = std::move(text)});
    } else {
      main_.push_back(std::move(text));
    }
  }

  /// Returns the conditions of `key`; empty if it is absent. Reports an error and returns nothing
  /// if no requirement can express them.
  std::optional<SpecifierSet> constraint_of(const std::string& name,
                                            const toml::table& entry,
                                            std::string_view key) {
    const auto text = entry[key].value_or(std::string{"*"});
    const auto alternatives = python::parse_poetry_constraint(text);
    auto conditions = alternatives ? merged(*alternatives) : std::nullopt;
    if (!conditions) {
      refuse(name, fmt::format("`{}` is {}", printable(text),
                               alternatives ? "more than one range of versions" : "no constraint"));
    }
    return conditions;
  }

  /// Returns the marker of `entry`; empty if it has no conditions. Fails as
  /// constraint_of() does.
  std::optional<std::string> markers_of(const std::string& name, const toml::table& entry) {
    std::vector<std::string> terms;
    if (const auto marker = entry["markers"].value<std::string>()) {
      terms.push_back("(" + *marker + ")");
    }
    if (entry["python"].is_string()) {
      const auto versions = constraint_of(name, entry, "python");
      if (!versions) {
        return std::nullopt;
      }
      terms.push_back(python_marker(*versions));
    }
    if (const auto platform = entry["platform"].value<std::string>()) {
      terms.push_back(fmt::format("sys_platform == '{}'", *platform));
    }
    std::erase(terms, "");
    return join(terms, " and ");
  }

  void add_source(const std::string& name, const toml::table& entry) {
    static constexpr std::array<std::string_view, 7> keys{"git",          "branch", "tag", "rev",
                                                          "subdirectory", "url",    "path"};
    toml::table source;
    for (const auto& [key, value] : entry) {
      if (contains(keys, key.str())) {
        source.insert(key, value);
      }
    }
    if (const auto* const index = entry.get("source")) {
      source.insert("index", *index);
    }
    if (source.contains("git") || source.contains("url") || source.contains("path") ||
        source.contains("index")) {
      sources_.insert_or_assign(name, std::move(source));
    }
  }

  Findings& findings_;
  const toml::table& poetry_;
  toml::table made_;
  std::string place_{"pyproject.toml tool.poetry.dependencies"};
  toml::array main_{};
  toml::table sources_{};
  std::vector<Optional> optional_{};
};

}  // namespace

toml::table with_poetry_dependencies(Findings& findings, const toml::table& document) {
  const auto* const poetry = document["tool"]["poetry"].as_table();
  return poetry == nullptr ? document : PoetryTables{findings, document, *poetry}.run();
}

Groups poetry_groups(Findings& findings, const toml::table& document) {
  Groups groups;
  const auto* const found = document["tool"]["poetry"].as_table();
  if (found == nullptr) {
    return groups;
  }
  const auto& poetry = *found;
  const auto add = [&](const std::string& name, const std::string& table,
                       const toml::node_view<const toml::node>& values,
                       const toml::node_view<const toml::node>& included) {
    groups.emplace(name, [&findings, &document, &poetry, table, values, included] {
      auto items = PoetryTables{findings, document, poetry}.group(table, values);
      for (const auto& other : strings_of(included)) {
        items.push_back(toml::table{{"include-group", other}});
      }
      return items;
    });
  };
  if (const auto* const named = poetry["group"].as_table()) {
    for (const auto& [name, value] : *named) {
      const toml::node_view<const toml::node> group{value};
      add(std::string{name.str()}, fmt::format("group.{}.dependencies", name.str()),
          group["dependencies"], group["include-groups"]);
    }
  }
  if (poetry["dev-dependencies"].is_table()) {
    add("dev", "dev-dependencies", poetry["dev-dependencies"], {});
  }
  return groups;
}

}  // namespace autopack::project
