#include "lock/freshness.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "project/findings.hpp"
#include "project/toml.hpp"
#include "python/marker.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace autopack::lock {

namespace {

std::string_view sign_of(python::Specifier::Operator op) {
  using Operator = python::Specifier::Operator;
  switch (op) {
    case Operator::compatible: return "~=";
    case Operator::equal: return "==";
    case Operator::not_equal: return "!=";
    case Operator::at_most: return "<=";
    case Operator::at_least: return ">=";
    case Operator::less: return "<";
    case Operator::greater: return ">";
    default: return "===";
  }
}

void add_texts(const toml::node* node, std::vector<std::string>& texts) {
  if (node == nullptr || !node->is_array()) {
    return;
  }
  for (const auto& item : *node->as_array()) {
    if (const auto text = item.value<std::string>()) {
      texts.push_back(*text);
    }
  }
}

bool is_dynamic(const toml::table& project) {
  std::vector<std::string> names;
  add_texts(project.get("dynamic"), names);
  return contains(names, "dependencies") || contains(names, "optional-dependencies");
}

std::optional<toml::table> parse(const std::string& pyproject) {
  try {
    return project::parse_toml(pyproject);
  } catch (const toml::parse_error&) {
    return std::nullopt;  // reported where the package is read
  }
}

/// Returns the names in `[project]` and in Poetry's table, except those whose markers are certainly
/// false.
std::vector<std::string> names_asked(const toml::table& document,
                                     const python::MarkerEnvironment& environment) {
  std::vector<std::string> texts;
  if (const auto* const project = document["project"].as_table();
      project != nullptr && !is_dynamic(*project)) {
    add_texts(project->get("dependencies"), texts);
  }
  std::vector<std::string> names;
  for (const auto& text : texts) {
    const auto requirement = python::parse_requirement(text);
    const auto marker =
        requirement.marker ? python::Marker::parse(*requirement.marker) : std::nullopt;
    if (requirement.name && (!marker || marker->holds_in(environment) != false)) {
      names.push_back(*requirement.name);
    }
  }
  if (const auto* const poetry = document["tool"]["poetry"]["dependencies"].as_table()) {
    for (const auto& [name, value] : *poetry) {
      if (name.str() != "python" && value.is_string()) {
        names.push_back(python::normalise_name(name.str()));
      }
    }
  }
  return names;
}

}  // namespace

std::string plain_requirement(std::string_view name, std::string_view specifiers) {
  std::vector<std::string> conditions;
  if (const auto set = python::SpecifierSet::parse(specifiers)) {
    for (const auto& one : set->all()) {
      conditions.push_back(fmt::format("{}{}{}{}", sign_of(one.op), one.text,
                                       one.text.empty() ? one.version.str() : "",
                                       one.any_below ? ".*" : ""));
    }
  }
  project::sort_unique(conditions);
  return python::normalise_name(name) + join(conditions, ",");
}

std::optional<std::vector<std::string>> asked_by_project(
    const std::optional<std::string>& pyproject) {
  const auto document = pyproject ? parse(*pyproject) : std::nullopt;
  const auto* const project = document ? (*document)["project"].as_table() : nullptr;
  if (project == nullptr || is_dynamic(*project)) {
    return std::nullopt;
  }
  std::vector<std::string> texts;
  add_texts(project->get("dependencies"), texts);
  if (const auto* const extras = (*project)["optional-dependencies"].as_table()) {
    for (const auto& [name, value] : *extras) {
      add_texts(&value, texts);
    }
  }
  std::vector<std::string> asked;
  for (const auto& text : texts) {
    const auto requirement = python::parse_requirement(text);
    if (requirement.name) {
      asked.push_back(plain_requirement(*requirement.name, requirement.rest));
    }
  }
  project::sort_unique(asked);
  return asked;
}

Problem older_than_project(const std::string& file,
                           const std::string& requirement,
                           const std::string& command) {
  return Problem::warning(
      {.message = fmt::format("`{}` is older than `pyproject.toml`, which asks for `{}`", file,
                              printable(requirement)),
       .origin = file,
       .hints = {command}});
}

void report_missing_names(LockedSet& set,
                          const std::string& file,
                          const Target& target,
                          std::vector<std::string> names,
                          const std::string& command) {
  const auto document = target.pyproject ? parse(*target.pyproject) : std::nullopt;
  if (!document) {
    return;
  }
  project::sort_unique(names);
  for (const auto& name : names_asked(*document, python::marker_environment(target.interpreter))) {
    if (name != target.project && !std::binary_search(names.begin(), names.end(), name)) {
      set.warnings.push_back(older_than_project(file, name, command));
      return;
    }
  }
}

}  // namespace autopack::lock
