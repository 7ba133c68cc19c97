#include "base/contains.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "base/tree_path.hpp"
#include "project/foreign_paths.hpp"
#include "project/package/package.hpp"
#include "project/package/version_control.hpp"
#include "project/requirements/poetry_tables.hpp"
#include "project/requirements/uv_settings.hpp"
#include "project/requirements/uv_sources.hpp"
#include "project/toml.hpp"
#include "python/name.hpp"
#include "python/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

using Node = toml::node_view<const toml::node>;

const std::string pyproject_name = "pyproject.toml";

bool holds(Node list, std::string_view word) {
  const auto items = strings_of(list);
  return contains(items, word);
}

std::optional<toml::table> parse(Findings& findings) {
  const auto text = findings.tree().read(findings.follow(pyproject_name).entry.path);
  try {
    return parse_toml(text);
  } catch (const toml::parse_error& error) {
    findings.error(
        fmt::format("cannot read `{}`: {}", pyproject_name, printable(error.description())),
        fmt::format("{}:{}", pyproject_name, error.source().begin.line));
    return std::nullopt;
  }
}

/// Reports paths of other machines as errors: pip finds nothing there.
void check_paths(Findings& findings, const std::vector<python::WrittenRequirement>& requirements) {
  for (const auto& requirement : requirements) {
    if (const auto foreign = path_of_another_machine(requirement.parts)) {
      findings.error(foreign->message, pyproject_name + " project.dependencies", foreign->hints);
    }
  }
}

void read_requirements(Findings& findings,
                       const Request& request,
                       const toml::table& document,
                       const char* table,
                       Package& package) {
  const auto project = document["project"];
  UvSources sources{findings, request, document, table};
  const auto read = [&](Node list) {
    std::vector<python::WrittenRequirement> requirements;
    for (const auto& text : strings_of(list)) {
      sources.apply(text, requirements);
    }
    check_paths(findings, requirements);
    return requirements;
  };
  if (!holds(project["dynamic"], "dependencies")) {
    package.requirements = read(project["dependencies"]);
  }
  if (const auto* const extras = project["optional-dependencies"].as_table()) {
    for (const auto& [extra, list] : *extras) {
      package.extra_requirements[python::normalise_name(extra.str())] = read(Node{list});
    }
  }
  package.members = sources.members();
  package.unread = sources.unread();
}

/// The files of `readme` at `node`: a name, a list of Poetry's, a table of the standard.
std::vector<std::string> readme_files(Node node) {
  auto files = strings_of(node);
  const auto one = node.is_table() ? node["file"].value<std::string>() : node.value<std::string>();
  if (one && files.empty()) {
    files.push_back(*one);
  }
  return files;
}

/// A build ends where its backend cannot read the readme. setuptools does without.
void require_readme(Findings& findings, const toml::table& document, const Package& package) {
  static constexpr std::array<std::string_view, 5> strict{"hatchling", "flit_core", "poetry.core",
                                                          "pdm.backend", "uv_build"};
  if (!package.installs || std::ranges::none_of(strict, [&](const auto& backend) {
        return package.backend.starts_with(backend);
      })) {
    return;
  }
  for (const auto& readme : {document["project"]["readme"], document["tool"]["poetry"]["readme"]}) {
    for (const auto& file : readme_files(readme)) {
      if (const auto path = source::normalise(file); path && findings.is_file(*path)) {
        findings.require_included(*path, fmt::format("the readme that `{}` names", pyproject_name));
      }
    }
  }
}

void read_project_table(Findings& findings,
                        const Request& request,
                        const toml::table& document,
                        Package& package) {
  const auto project = document["project"];
  package.name = non_empty(project["name"].value_or(std::string{}));
  if (!package.name) {
    findings.error("`project.name` is missing", pyproject_name);
  }
  for (const auto& file : readme_files(project["readme"])) {
    if (!findings.is_file(source::normalise(file).value_or(""))) {
      findings.error(fmt::format("`{}` does not exist", printable(file)),
                     pyproject_name + " project.readme");
    }
  }
  read_requirements(findings, request, document, "tool.uv.sources", package);
}

/// Returns the directory of modules, if a backend's table names it.
std::string import_root_of(const toml::table& document) {
  const auto setuptools = document["tool"]["setuptools"];
  auto root = setuptools["package-dir"][""].value<std::string>();
  if (!root) {
    const auto where = strings_of(setuptools["packages"]["find"]["where"]);
    root = where.size() == 1 ? std::optional{where.front()} : std::nullopt;
  }
  if (!root) {
    const auto hatch =
        strings_of(document["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]);
    root = hatch.empty() ? std::nullopt : std::optional{parent_path(hatch.front())};
  }
  if (!root) {
    root = document["tool"]["poetry"]["packages"][0]["from"].value<std::string>();
  }
  return source::normalise(root.value_or("")).value_or("");
}

/// Returns true if setuptools discovers packages at the root by itself.
bool discovers_at_root(const Findings& findings, const toml::table& document) {
  const auto build_system = document["build-system"];
  const auto backend = build_system["build-backend"].value_or(std::string{"setuptools"});
  const auto setuptools = document["tool"]["setuptools"];
  if (!backend.starts_with("setuptools") || !document["project"].is_table() ||
      findings.is_file("setup.py") || findings.is_directory("src") || setuptools["packages"] ||
      setuptools["py-modules"] || setuptools["package-dir"] || setuptools["ext-modules"]) {
    return false;
  }
  const Ini ini = findings.is_file("setup.cfg")
                      ? parse_ini(findings.tree().read(findings.follow("setup.cfg").entry.path))
                      : Ini{};
  return !find_option(ini, "options", "packages") && !find_option(ini, "options", "py_modules") &&
         !find_option(ini, "options", "package_dir");
}

/// Returns true if Poetry would fail to install the package, because it finds no module for it.
bool has_nothing_for_poetry(const Findings& findings,
                            const toml::table& document,
                            const Package& package) {
  const auto poetry = document["tool"]["poetry"];
  if (!package.backend.ends_with("masonry.api") || !package.name || poetry["packages"] ||
      poetry["include"]) {
    return false;
  }
  const auto module = replace_all(python::normalise_name(*package.name), "-", "_");
  return std::ranges::none_of(std::array{module, "src/" + module}, [&](const auto& path) {
    return findings.is_directory(path) || findings.is_file(path + ".py");
  });
}

/// Returns why the project is not an installable package although it has a pyproject.toml; nothing
/// if it is one.
std::optional<std::string> reason_not_to_install(Findings& findings,
                                                 const toml::table& document,
                                                 const Package& package) {
  const auto tool = document["tool"];
  if (!tool["poetry"]["package-mode"].value_or(true)) {
    return "`tool.poetry.package-mode` is false";
  }
  if (!tool["uv"]["package"].value_or(true)) {
    return "`tool.uv.package` is false";
  }
  if (!tool["pdm"]["distribution"].value_or(true)) {
    return "`tool.pdm.distribution` is false";
  }
  if (tool["rye"]["virtual"].value_or(false)) {
    return "`tool.rye.virtual` is true";
  }
  if (has_nothing_for_poetry(findings, document, package)) {
    return fmt::format("Poetry finds no package `{}` in it", printable(*package.name));
  }
  if (document["build-system"].is_table() || findings.is_file("setup.py")) {
    return std::nullopt;
  }
  if (tool["poetry"].is_table() && !document["project"].is_table()) {
    return "it has no `[build-system]`";
  }
  if (tool["uv"].is_table() || findings.is_file("uv.lock")) {
    return "it has no `[build-system]`";
  }
  const bool src = findings.is_directory("src") && !findings.is_file("src/__init__.py");
  if (!tool["setuptools"].is_table() && !src && discovered_packages(findings).size() != 1) {
    return "it has no `[build-system]`, and setuptools finds no single package in it";
  }
  return std::nullopt;
}

/// We accept a byte order mark, but pip fails.
void check_mark(Findings& findings) {
  constexpr std::string_view mark{"\xEF\xBB\xBF"};
  if (findings.tree().read(findings.follow(pyproject_name).entry.path).starts_with(mark)) {
    findings.error(
        fmt::format("pip cannot read `{}`: it begins with a byte order mark", pyproject_name),
        pyproject_name + ":1", {fmt::format(R"(sed -i '1s/^\xEF\xBB\xBF//' {})", pyproject_name)});
  }
}

/// Skips an installation that setuptools refuses, because the program finds its files without it.
void leave_out_refused(Findings& findings, const toml::table& document, Package& package) {
  const auto refused = package.installs && discovers_at_root(findings, document)
                           ? refused_by_setuptools(findings)
                           : std::vector<std::string>{};
  if (refused.empty() || (!package.requirements && !findings.is_file("requirements.txt"))) {
    return;
  }
  package.installs = false;
  findings.warn(
      fmt::format("only the project's dependencies are installed, not its own package: setuptools "
                  "refuses several top-level packages or modules, `{}`",
                  join(refused, "`, `")),
      pyproject_name,
      {"name what belongs to the package in `[tool.setuptools]`, or nothing: `py-modules = []`"});
}

}  // namespace

bool read_pyproject(Findings& findings, const Request& request, Package& package) {
  const auto document = parse(findings);
  if (!document) {
    return false;
  }
  const bool poetry = (*document)["tool"]["poetry"].is_table();
  const bool flit = (*document)["tool"]["flit"]["metadata"].is_table();
  const auto build_system = (*document)["build-system"];
  const bool project = (*document)["project"].is_table();
  if (!poetry && !flit && !build_system.is_table() && !project) {
    return false;
  }
  package.backend =
      build_system["build-backend"].value_or(std::string{"setuptools.build_meta:__legacy__"});
  package.build_requirements = strings_of(build_system["requires"]);
  package.name = non_empty((*document)["tool"]["poetry"]["name"].value_or(std::string{}));
  if (project) {
    read_project_table(findings, request, *document, package);
    package.indexes = indexes_named_in(*document);
    package.uv = uv_settings(*document, request);
  }
  package.import_root = import_root_of(*document);
  const auto reason = reason_not_to_install(findings, *document, package);
  package.installs = !reason;
  const bool is_all = reason && !package.requirements && !findings.is_file("requirements.txt");
  if (is_all && poetry) {
    const auto translated = with_poetry_dependencies(findings, *document);
    read_requirements(findings, request, translated, "tool.poetry.dependencies", package);
    package.indexes = indexes_named_in(*document);
    package.uv = uv_settings(translated, request);
  } else if (is_all) {
    findings.warn(
        fmt::format(
            "the project's dependencies are not installed: {}, and only its tool knows what "
            "that is",
            *reason),
        pyproject_name, {"list it in requirements.txt"});
  }
  leave_out_refused(findings, *document, package);
  if (package.installs) {
    check_mark(findings);
  }
  require_readme(findings, *document, package);
  if (!build_system.is_table() && flit && package.installs) {
    findings.warn("`[tool.flit]` is not read: without `[build-system]` pip builds with setuptools",
                  pyproject_name);
  }
  if (auto tool = version_control_in(*document)) {
    package.version_control = std::make_shared<const VersionControl>(std::move(*tool));
  }
  return true;
}

}  // namespace autopack::project
