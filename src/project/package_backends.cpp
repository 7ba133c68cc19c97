#include "project/package_backends.hpp"

#include "base/text.hpp"
#include "project/setup_py.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::project {

namespace {

using Node = toml::node_view<const toml::node>;

/// Makes the layout one package or module; false when it is neither at the root nor below src/.
bool place_module(PackageDraft& draft, const std::string& dotted) {
  const std::string path = replace_all(dotted, ".", "/");
  for (const char* const root : {"", "src"}) {
    const std::string directory = join_path(root, path);
    const bool is_package = draft.findings().is_directory(directory);
    if (!is_package && !draft.findings().is_file(directory + ".py")) {
      continue;
    }
    draft.layout.kind = Layout::Kind::listed;
    draft.layout.root = root;
    draft.layout.origin = "pyproject.toml";
    (is_package ? draft.layout.packages : draft.layout.modules).push_back(dotted);
    return true;
  }
  return false;
}

void report_missing(PackageDraft& draft, const std::string& module) {
  std::vector<std::string> candidates;
  for (const auto& entry : draft.findings().tree().list("")) {
    candidates.push_back(entry.path);
  }
  draft.findings().error(
      fmt::format("there is no package `{}`, neither at the root nor in `src`", printable(module)),
      "pyproject.toml", Findings::suggest(module, candidates));
}

bool holds(Node list, std::string_view word) {
  const auto items = strings_of(list);
  return std::find(items.begin(), items.end(), word) != items.end();
}

/// The import name of a distribution.
std::string underscored(const std::string& name) {
  return replace_all(name, "-", "_");
}

}  // namespace

void read_flit(PackageDraft& draft, const toml::table& document) {
  const auto metadata = document["tool"]["flit"]["metadata"];
  const auto project = document["project"];
  std::string module = document["tool"]["flit"]["module"]["name"].value_or(
      metadata["module"].value_or(std::string{}));
  if (module.empty()) {
    module = underscored(draft.package.name);
  }
  if (draft.package.name.empty()) {
    draft.package.name = metadata["dist-name"].value_or(module);
  }
  if (!place_module(draft, module)) {
    report_missing(draft, module);
    return;
  }
  for (const char* const key : {"description-file", "license-file"}) {
    for (const auto& file : strings_of(metadata[key])) {
      draft.add_file(file, fmt::format("pyproject.toml tool.flit.metadata.{}", key), true);
    }
  }
  const auto dynamic = project["dynamic"];
  if (metadata || holds(dynamic, "version") || holds(dynamic, "description")) {
    draft.add_attribute(module + ".__version__", "pyproject.toml");
  }
  if (document["tool"]["flit"]["external-data"]) {
    draft.install_all("pyproject.toml installs data files");
  }
}

namespace {

void read_hatch_version(PackageDraft& draft, const toml::table& document) {
  const auto version = document["tool"]["hatch"]["version"];
  const std::string source = version["source"].value_or(std::string{"regex"});
  if (const auto file = version["path"].value<std::string>()) {
    draft.add_file(*file, "pyproject.toml tool.hatch.version.path", true);
  }
  if (source == "vcs") {
    draft.pin_version("SETUPTOOLS_SCM_PRETEND_VERSION", "pyproject.toml tool.hatch.version");
  } else if (source == "code") {
    draft.install_for_metadata("pyproject.toml takes the version from code that runs");
  }
  if (document["tool"]["hatch"]["metadata"]["hooks"]) {
    draft.install_for_metadata("pyproject.toml has hatch metadata hooks");
  }
}

void read_hatch_hooks(PackageDraft& draft, Node hooks) {
  const auto* const table = hooks.as_table();
  if (table == nullptr) {
    return;
  }
  for (const auto& [name, hook] : *table) {
    const auto* const settings = hook.as_table();
    const auto written = settings == nullptr   ? std::nullopt
                         : name.str() == "vcs" ? (*settings)["version-file"].value<std::string>()
                         : name.str() == "version" ? (*settings)["path"].value<std::string>()
                                                   : std::nullopt;
    if (!written || !draft.findings().is_file(source::normalise(*written).value_or(""))) {
      draft.install_all(fmt::format("pyproject.toml has the hatch build hook `{}`", name.str()));
      draft.package.metadata_needs_code = true;
    }
  }
}

/// `packages = ["src/trainer"]`: hatch strips the directories before the last name.
void read_hatch_packages(PackageDraft& draft, const std::vector<std::string>& packages) {
  draft.layout.kind = Layout::Kind::listed;
  draft.layout.origin = "pyproject.toml";
  for (const auto& package : packages) {
    const std::string path = source::normalise(package).value_or("");
    if (!draft.layout.packages.empty() && draft.layout.root != parent_path(path)) {
      draft.install_all("pyproject.toml takes packages from several directories");
    }
    draft.layout.root = parent_path(path);
    draft.layout.packages.push_back(base_name(path));
  }
}

void read_hatch_default(PackageDraft& draft) {
  const std::string module = underscored(draft.package.name);
  for (const auto& candidate : {module, to_lower(module)}) {
    if (place_module(draft, candidate)) {
      return;
    }
  }
  draft.layout.kind = Layout::Kind::found;
  draft.layout.origin = "pyproject.toml";
}

}  // namespace

void read_hatch(PackageDraft& draft, const toml::table& document) {
  read_hatch_version(draft, document);
  const auto build = document["tool"]["hatch"]["build"];
  const auto wheel = build["targets"]["wheel"];
  const auto setting = [&](const char* key) { return wheel[key] ? wheel[key] : build[key]; };
  read_hatch_hooks(draft, build["hooks"]);
  read_hatch_hooks(draft, wheel["hooks"]);
  for (const char* const key : {"force-include", "shared-data", "extra-metadata", "artifacts"}) {
    if (setting(key)) {
      draft.install_all(fmt::format("pyproject.toml places files by hatch's `{}`", key));
    }
  }
  const auto sources = setting("sources");
  if (sources.is_table()) {
    draft.install_all("pyproject.toml places files by hatch's `sources`");
  }
  if (setting("packages")) {
    read_hatch_packages(draft, strings_of(setting("packages")));
  } else if (setting("include") || setting("only-include") || setting("exclude")) {
    draft.layout.kind = Layout::Kind::found;
    draft.layout.origin = "pyproject.toml";
  } else {
    read_hatch_default(draft);
  }
  const auto stripped = strings_of(sources);
  if (stripped.size() == 1 && draft.layout.root.empty()) {
    draft.layout.root = source::normalise(stripped.front()).value_or("");
    draft.layout.kind = Layout::Kind::found;
  } else if (stripped.size() > 1) {
    draft.install_all("pyproject.toml places files by hatch's `sources`");
  }
}

namespace {

void read_poetry_package(PackageDraft& draft, const toml::table& item) {
  const auto include = source::normalise(item["include"].value_or(std::string{})).value_or("");
  const auto from = source::normalise(item["from"].value_or(std::string{})).value_or("");
  const auto formats = strings_of(toml::node_view<const toml::node>{item["format"]});
  if (formats.size() == 1 && formats.front() == "sdist") {
    return;
  }
  auto& layout = draft.layout;
  const std::string name = split(include, '/').front();
  if (item.contains("to") || name.find('*') != std::string::npos ||
      (!layout.packages.empty() && layout.root != from)) {
    draft.install_all("pyproject.toml maps packages to other directories");
    return;
  }
  layout.root = from;
  auto& list = name.ends_with(".py") ? layout.modules : layout.packages;
  list.push_back(name.ends_with(".py") ? name.substr(0, name.size() - 3) : name);
}

}  // namespace

void read_poetry(PackageDraft& draft, const toml::table& document) {
  const auto poetry = document["tool"]["poetry"];
  if (draft.package.name.empty()) {
    draft.package.name = poetry["name"].value_or(std::string{});
  }
  for (const auto& file : strings_of(poetry["readme"])) {
    draft.add_file(file, "pyproject.toml tool.poetry.readme", true);
  }
  draft.layout.origin = "pyproject.toml";
  if (const auto* const packages = poetry["packages"].as_array()) {
    draft.layout.kind = Layout::Kind::listed;
    for (const auto& item : *packages) {
      if (const auto* const table = item.as_table()) {
        read_poetry_package(draft, *table);
      }
    }
  } else if (const std::string module = underscored(draft.package.name);
             poetry["package-mode"].value_or(true) && !place_module(draft, module) &&
             !place_module(draft, to_lower(module))) {
    report_missing(draft, module);
  }
  if (poetry["build"]) {
    draft.install_all("pyproject.toml has a poetry build script");
    draft.package.metadata_needs_code = true;
  }
  if (poetry["include"]) {
    draft.install_all("pyproject.toml includes further files");
  }
  if (document["tool"]["poetry-dynamic-versioning"]["enable"].value_or(false)) {
    draft.pin_version("POETRY_DYNAMIC_VERSIONING_BYPASS",
                      "pyproject.toml tool.poetry-dynamic-versioning");
  }
}

void read_pdm(PackageDraft& draft, const toml::table& document) {
  const auto pdm = document["tool"]["pdm"];
  const auto version = pdm["version"];
  const std::string source = version["source"].value_or(std::string{});
  if (source == "scm") {
    draft.pin_version("PDM_BUILD_SCM_VERSION", "pyproject.toml tool.pdm.version");
  } else if (source == "call") {
    draft.install_for_metadata("pyproject.toml takes the version from code that runs");
  }
  const auto file = version["path"] ? version["path"] : version["from"];
  if (const auto path = file.value<std::string>()) {
    draft.add_file(*path, "pyproject.toml tool.pdm.version", true);
  }
  const auto build = pdm["build"];
  draft.layout.root = source::normalise(build["package-dir"].value_or(std::string{})).value_or("");
  if (draft.layout.root.empty() && draft.findings().is_directory("src")) {
    draft.layout.root = "src";
  }
  draft.layout.kind = Layout::Kind::found;
  draft.layout.origin = "pyproject.toml";
  for (const char* const key : {"includes", "custom-hook", "run-setuptools", "wheel-data"}) {
    if (build[key]) {
      draft.install_all(fmt::format("pyproject.toml sets pdm's `{}`", key));
      draft.package.metadata_needs_code = true;
    }
  }
}

}  // namespace autopack::project
