#include "base/text.hpp"
#include "project/package.hpp"
#include "project/package_names.hpp"
#include "project/requirement.hpp"
#include "project/toml.hpp"
#include "project/version_control.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::project {

namespace {

using Node = toml::node_view<const toml::node>;

const std::string pyproject_name = "pyproject.toml";

/// A string or an array of strings; other values are left out.
std::vector<std::string> strings_of(Node value) {
  std::vector<std::string> strings;
  if (const auto text = value.value<std::string>()) {
    strings.push_back(*text);
  }
  if (const auto* const array = value.as_array()) {
    for (const auto& item : *array) {
      if (auto text = item.value<std::string>()) {
        strings.push_back(std::move(*text));
      }
    }
  }
  return strings;
}

bool holds(Node list, std::string_view word) {
  const auto items = strings_of(list);
  return std::find(items.begin(), items.end(), word) != items.end();
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

/// `[tool.uv.sources]`: what uv takes from elsewhere than an index, as pip would be told.
class UvSources {
public:
  UvSources(Findings& findings, const toml::table& document)
      : findings_{findings},
        sources_{document["tool"]["uv"]["sources"].as_table()},
        members_{strings_of(document["tool"]["uv"]["workspace"]["members"])} {}

  /// `requirement` as it is given to pip; none when its package is one of `package`'s members.
  std::optional<std::string> apply(const std::string& requirement, Package& package) {
    const auto parsed = parse_requirement(requirement);
    const auto* const source = parsed.name ? find(*parsed.name) : nullptr;
    if (source == nullptr || parsed.kind != Requirement::Kind::named) {
      return requirement;
    }
    const auto& name = *parsed.name;
    const auto& table = *source;
    const std::string extras = parsed.extras.empty() ? "" : "[" + join(parsed.extras, ",") + "]";
    const auto at = [&](const std::string& url) {
      const std::string marker = parsed.marker ? " ; " + *parsed.marker : "";
      return fmt::format("{}{} @ {}{}", name, extras, url, marker);
    };
    if (const auto git = table["git"].value<std::string>()) {
      std::string url = git->starts_with("git+") ? *git : "git+" + *git;
      for (const char* const key : {"rev", "tag", "branch"}) {
        if (const auto revision = table[key].value<std::string>()) {
          url += "@" + *revision;
        }
      }
      const auto below = table["subdirectory"].value<std::string>();
      return at(below ? url + "#subdirectory=" + *below : url);
    }
    if (const auto url = table["url"].value<std::string>()) {
      return at(*url);
    }
    const auto path = table["path"].value<std::string>();
    if (path || table["workspace"].value_or(false)) {
      return add_member(name, path, package) ? std::nullopt : std::optional{requirement};
    }
    if (const auto index = table["index"].value<std::string>()) {
      findings_.warn(fmt::format("pip does not read that uv takes `{}` from the index `{}`", name,
                                 printable(*index)),
                     pyproject_name + " tool.uv.sources",
                     {"name the index in requirements.txt: `--extra-index-url URL`"});
    }
    return requirement;
  }

private:
  const toml::table* find(const std::string& name) const {
    if (sources_ == nullptr) {
      return nullptr;
    }
    for (const auto& [key, value] : *sources_) {
      if (normalise_name(key.str()) == normalise_name(name)) {
        const auto* const list = value.as_array();
        return list == nullptr ? value.as_table() : nullptr;
      }
    }
    return nullptr;
  }

  bool add_member(const std::string& name,
                  const std::optional<std::string>& path,
                  Package& package) {
    const auto directory = path ? source::normalise(*path) : find_member(name);
    if (!directory || !findings_.is_directory(*directory)) {
      findings_.error(
          fmt::format("`{}` comes from {}, which is not below the working directory",
                      printable(name), path ? "`" + printable(*path) + "`" : "the workspace"),
          pyproject_name + " tool.uv.sources");
      return false;
    }
    package.members.push_back(*directory);
    return true;
  }

  std::optional<std::string> find_member(const std::string& name) const {
    for (const auto& pattern : members_) {
      const std::string parent = parent_path(pattern);
      for (const auto& entry : findings_.tree().list(parent)) {
        const std::string file = entry.path + "/pyproject.toml";
        if (matches_glob(base_name(pattern), base_name(entry.path)) && findings_.is_file(file) &&
            normalise_name(name_in(file)) == normalise_name(name)) {
          return entry.path;
        }
      }
    }
    return std::nullopt;
  }

  std::string name_in(const std::string& file) const {
    try {
      const toml::table document =
          parse_toml(findings_.tree().read(findings_.follow(file).entry.path));
      return document["project"]["name"].value_or(std::string{});
    } catch (const toml::parse_error&) {
      return {};
    }
  }

  Findings& findings_;
  const toml::table* sources_;
  std::vector<std::string> members_;
};

void read_requirements(Findings& findings, const toml::table& document, Package& package) {
  const auto project = document["project"];
  UvSources sources{findings, document};
  const auto read = [&](Node list) {
    std::vector<std::string> requirements;
    for (const auto& text : strings_of(list)) {
      if (auto requirement = sources.apply(text, package)) {
        requirements.push_back(std::move(*requirement));
      }
    }
    return requirements;
  };
  if (!holds(project["dynamic"], "dependencies")) {
    package.requirements = read(project["dependencies"]);
  }
  if (const auto* const extras = project["optional-dependencies"].as_table()) {
    for (const auto& [extra, list] : *extras) {
      package.extra_requirements[normalise_name(extra.str())] = read(Node{list});
    }
  }
  sort_unique(package.members);
}

void read_project_table(Findings& findings, const toml::table& document, Package& package) {
  const auto project = document["project"];
  package.name = non_empty(project["name"].value_or(std::string{}));
  if (!package.name) {
    findings.error("`project.name` is missing", pyproject_name);
  }
  const auto readme = project["readme"];
  const auto file =
      readme.is_table() ? readme["file"].value<std::string>() : readme.value<std::string>();
  if (file && !findings.is_file(source::normalise(*file).value_or(""))) {
    findings.error(fmt::format("`{}` does not exist", printable(*file)),
                   pyproject_name + " project.readme");
  }
  read_requirements(findings, document, package);
}

/// Where modules are, as far as a backend's table says so.
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

/// Why the project is no package to install though it has a pyproject.toml; none when it is one.
std::optional<std::string> reason_not_to_install(Findings& findings, const toml::table& document) {
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
  if (document["build-system"].is_table() || findings.is_file("setup.py")) {
    return std::nullopt;
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

}  // namespace

bool read_pyproject(Findings& findings, Package& package) {
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
    read_project_table(findings, *document, package);
  }
  package.import_root = import_root_of(*document);
  const auto reason = reason_not_to_install(findings, *document);
  package.installs = !reason;
  if (reason && !package.requirements && !findings.is_file("requirements.txt")) {
    findings.warn(
        fmt::format("what the project needs is not installed: {}, and only its tool can tell what "
                    "that is",
                    *reason),
        pyproject_name, {"list it in requirements.txt"});
  }
  if (!build_system.is_table() && (poetry || flit) && package.installs) {
    findings.warn(
        fmt::format("`[tool.{}]` is not read: without `[build-system]` pip builds with setuptools",
                    poetry ? "poetry" : "flit"),
        pyproject_name);
  }
  if (auto tool = version_control_in(*document)) {
    package.version_control = std::make_shared<const VersionControl>(std::move(*tool));
  }
  return true;
}

}  // namespace autopack::project
