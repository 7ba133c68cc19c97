#include "base/text.hpp"
#include "project/package.hpp"
#include "project/package_backends.hpp"
#include "project/toml.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::project {

namespace {

const std::string origin = "pyproject.toml";

/// `readme = "README.md"` or `{file = "README.md"}`.
void add_named_file(PackageDraft& draft,
                    toml::node_view<const toml::node> value,
                    const std::string& key) {
  const auto file =
      value.is_table() ? value["file"].value<std::string>() : value.value<std::string>();
  if (file) {
    draft.add_file(*file, fmt::format("{} {}", origin, key), true);
  }
}

void read_project_table(PackageDraft& draft, const toml::table& document) {
  const auto project = document["project"];
  draft.package.name = project["name"].value_or(std::string{});
  if (draft.package.name.empty()) {
    draft.findings().error("`project.name` is missing", origin);
  }
  add_named_file(draft, project["readme"], "project.readme");
  if (project["license"].is_table()) {
    add_named_file(draft, project["license"], "project.license");
  }
  for (const auto& pattern : strings_of(project["license-files"])) {
    draft.add_matches(pattern);
  }
}

/// `{file = ...}` and `{attr = ...}` of `[tool.setuptools.dynamic]`.
void read_dynamic(PackageDraft& draft, const toml::table& dynamic) {
  for (const auto& [key, node] : dynamic) {
    const auto* const value = node.as_table();
    if (value == nullptr) {
      continue;
    }
    const std::string where = fmt::format("{} tool.setuptools.dynamic.{}", origin, key.str());
    if (const auto attribute = (*value)["attr"].value<std::string>()) {
      draft.add_attribute(*attribute, where);
    } else if (value->contains("file")) {
      for (const auto& file : strings_of((*value)["file"])) {
        draft.add_file(file, where, false);
      }
    } else {
      read_dynamic(draft, *value);
    }
  }
}

void read_setuptools_layout(PackageDraft& draft, toml::node_view<const toml::node> tool) {
  Layout& layout = draft.layout;
  if (const auto* const directories = tool["package-dir"].as_table()) {
    for (const auto& [package, directory] : *directories) {
      const auto normal = source::normalise(directory.value_or(std::string{}));
      if (package.str().empty() && normal) {
        layout.root = *normal;
      } else {
        draft.install_all(fmt::format("{} maps the package `{}` to `{}`", origin, package.str(),
                                      directory.value_or(std::string{})));
      }
    }
  }
  const auto packages = tool["packages"];
  if (packages.is_array()) {
    layout.kind = Layout::Kind::listed;
    layout.packages = strings_of(packages);
  } else if (packages["find"].is_table()) {
    layout.kind = Layout::Kind::found;
    layout.namespaces = packages["find"]["namespaces"].value_or(true);
    const auto where = strings_of(packages["find"]["where"]);
    if (where.size() == 1) {
      layout.root = source::normalise(where.front()).value_or("");
    } else if (where.size() > 1) {
      draft.install_all(origin + " looks for packages in several directories");
    }
  }
  if (tool["py-modules"].is_array()) {
    layout.modules = strings_of(tool["py-modules"]);
    layout.kind = layout.kind == Layout::Kind::automatic ? Layout::Kind::listed : layout.kind;
  }
  layout.origin = origin;
}

void read_setuptools_table(PackageDraft& draft, const toml::table& document) {
  const auto tool = document["tool"]["setuptools"];
  read_setuptools_layout(draft, tool);
  if (const auto* const dynamic = tool["dynamic"].as_table()) {
    read_dynamic(draft, *dynamic);
  }
  for (const auto& pattern : strings_of(tool["license-files"])) {
    draft.add_matches(pattern);
  }
  for (const auto& script : strings_of(tool["script-files"])) {
    draft.add_file(script, origin + " tool.setuptools.script-files", true);
  }
  if (tool["ext-modules"]) {
    draft.install_all(origin + " builds extension modules");
  }
  if (tool["data-files"]) {
    draft.install_all(origin + " installs data files");
  }
  if (tool["cmdclass"]) {
    draft.install_all(origin + " replaces a build command (cmdclass)");
  }
  if (const auto scm = document["tool"]["setuptools_scm"]) {
    draft.pin_version("SETUPTOOLS_SCM_PRETEND_VERSION", origin + " tool.setuptools_scm");
    const auto written = scm["version_file"] ? scm["version_file"] : scm["write_to"];
    if (const auto file = written.value<std::string>();
        file && !draft.findings().is_file(source::normalise(*file).value_or(""))) {
      draft.install_all(fmt::format("the build writes `{}`", *file));
    }
  }
}

/// A build backend that lies in the tree itself.
void read_backend_path(PackageDraft& draft, const toml::table& document) {
  for (const auto& directory : strings_of(document["build-system"]["backend-path"])) {
    const auto normal = source::normalise(directory);
    if (!normal) {
      draft.findings().error(
          fmt::format("the build backend's directory `{}` leads out of the working directory",
                      printable(directory)),
          origin);
      continue;
    }
    const std::string module = replace_all(split(draft.package.backend, ':').front(), ".", "/");
    draft.add_file(join_path(*normal, module + ".py"), origin, false);
    for (const auto& file : draft.findings().files_below(join_path(*normal, module))) {
      draft.add_file(file, origin, false);
    }
    draft.install_all("the project brings its own build backend");
  }
}

std::optional<toml::table> parse(PackageDraft& draft) {
  const auto text = draft.findings().tree().read(draft.findings().follow(origin).entry.path);
  try {
    return parse_toml(text);
  } catch (const toml::parse_error& error) {
    draft.findings().error(
        fmt::format("cannot read `{}`: {}", origin, printable(error.description())),
        fmt::format("{}:{}", origin, error.source().begin.line));
    return std::nullopt;
  }
}

}  // namespace

std::vector<std::string> strings_of(toml::node_view<const toml::node> value) {
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

bool read_pyproject(PackageDraft& draft) {
  const auto document = parse(draft);
  if (!document) {
    return false;
  }
  const bool poetry = (*document)["tool"]["poetry"].is_table();
  const bool flit = (*document)["tool"]["flit"]["metadata"].is_table();
  const bool build_system = (*document)["build-system"].is_table();
  const bool project = (*document)["project"].is_table();
  if (!poetry && !flit && !build_system && !project) {
    return false;
  }
  draft.package.backend = (*document)["build-system"]["build-backend"].value_or(
      std::string{"setuptools.build_meta:__legacy__"});
  if (project) {
    read_project_table(draft, *document);
  }
  if (!build_system && (poetry || flit)) {
    draft.findings().warn(
        fmt::format("`[tool.{}]` is not read: without `[build-system]` pip builds with setuptools",
                    poetry ? "poetry" : "flit"),
        origin);
  }
  read_backend_path(draft, *document);
  const auto& backend = draft.package.backend;
  if (backend.starts_with("setuptools")) {
    read_setuptools_table(draft, *document);
  } else if (backend.starts_with("flit_core") || backend.starts_with("flit.")) {
    read_flit(draft, *document);
  } else if (backend.starts_with("hatchling")) {
    read_hatch(draft, *document);
  } else if (backend.starts_with("poetry")) {
    read_poetry(draft, *document);
  } else if (backend.starts_with("pdm.")) {
    read_pdm(draft, *document);
  } else {
    draft.install_all(
        fmt::format("autopack does not know the build backend `{}`", printable(backend)));
    draft.package.metadata_needs_code = true;
  }
  return true;
}

}  // namespace autopack::project
