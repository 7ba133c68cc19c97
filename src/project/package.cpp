#include "project/package.hpp"

#include "base/text.hpp"
#include "project/ini.hpp"
#include "project/python_names.hpp"
#include "project/setup_py.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::project {

using source::EntryType;

void PackageDraft::add_file(std::string_view path, const std::string& origin, bool required) {
  const auto normal = source::normalise(path);
  const Place place = normal ? findings_->follow(*normal) : Place{Place::Kind::leaves, {}, {}};
  if (place.is_file()) {
    const bool included = required ? findings_->require_included(*normal, "named at " + origin)
                                   : !findings_->is_ignored(*normal);
    if (included) {
      package.metadata_files.push_back(*normal);
      package.metadata_files.push_back(place.entry.path);
    }
  } else if (required) {
    findings_->error(place.kind == Place::Kind::leaves
                         ? fmt::format("`{}` leads out of the working directory", printable(path))
                         : fmt::format("`{}` does not exist", printable(path)),
                     origin);
  }
}

void PackageDraft::add_matches(std::string_view pattern) {
  const std::string directory = parent_path(pattern);
  for (const auto& entry : findings_->tree().list(directory)) {
    if (matches_glob(base_name(pattern), base_name(entry.path))) {
      add_file(entry.path, "", false);
    }
  }
}

void PackageDraft::install(const std::string& reason) {
  if (!package.needs_install) {
    package.needs_install = true;
    package.reason = reason;
  }
}

void PackageDraft::install_all(const std::string& reason) {
  install(reason);
  whole_tree_ = true;
}

void PackageDraft::install_for_metadata(const std::string& reason) {
  install(reason);
  package.metadata_needs_code = true;
}

void PackageDraft::pin_version(const std::string& variable, const std::string& origin) {
  package.build_environment[variable] = "0.0.0";
  findings_->warn(
      "the version of the package comes from version control, which is not in the "
      "image: there it is `0.0.0`",
      origin);
}

void PackageDraft::add_attribute(std::string_view dotted, const std::string& origin) {
  const auto dot = dotted.rfind('.');
  const std::string module{dotted.substr(0, dot == std::string_view::npos ? 0 : dot)};
  const std::string name{dot == std::string_view::npos ? dotted : dotted.substr(dot + 1)};
  const std::string below = replace_all(module, ".", "/");
  for (const std::string& root : {layout.root, std::string{}, std::string{"src"}}) {
    const std::string path = join_path(root, below);
    for (const auto& file : {join_path(path, "__init__.py"), path + ".py"}) {
      const Place place = findings_->follow(file);
      if (!place.is_file()) {
        continue;
      }
      if (assigns_literal(findings_->tree().read(place.entry.path), name)) {
        add_file(file, origin, true);
      } else {
        install_for_metadata(fmt::format("{} takes `{}` from code that runs", origin, dotted));
      }
      return;
    }
  }
  install_for_metadata(
      fmt::format("{} takes `{}` from a module autopack did not find", origin, dotted));
}

bool PackageDraft::holds_python(const std::string& directory) const {
  bool found = false;
  source::walk(
      findings_->tree(), directory,
      [&](const source::Entry& entry) { return !found && !findings_->is_ignored(entry.path); },
      [&](const source::Entry& entry) { found = found || entry.path.ends_with(".py"); });
  return found;
}

namespace {

/// Names that setuptools leaves out when it looks for packages or modules by itself.
bool is_reserved(std::string_view name) {
  static constexpr std::array<std::string_view, 41> reserved{
      "ci",         "bin",        "debian",        "doc",       "docs",        "documentation",
      "manpages",   "news",       "newsfragments", "changelog", "test",        "tests",
      "unit_test",  "unit_tests", "example",       "examples",  "scripts",     "tools",
      "util",       "utils",      "python",        "build",     "benchmark",   "benchmarks",
      "exercise",   "exercises",  "htmlcov",       "setup",     "conftest",    "toxfile",
      "noxfile",    "pavement",   "dodo",          "tasks",     "fabfile",     "site_scons",
      "SConstruct", "sconstruct", "conanfile",     "manage",    "node_modules"};
  return name.starts_with('_') ||
         std::find(reserved.begin(), reserved.end(), name) != reserved.end();
}

}  // namespace

std::vector<std::string> PackageDraft::top_level_packages() const {
  std::vector<std::string> names;
  const bool namespaces =
      layout.namespaces || (layout.kind == Layout::Kind::automatic && !layout.root.empty());
  for (const auto& entry : findings_->tree().list(layout.root)) {
    const std::string name = base_name(entry.path);
    if (entry.type != EntryType::directory || !is_identifier(name) ||
        (layout.kind == Layout::Kind::automatic && layout.root.empty() && is_reserved(name)) ||
        (findings_->is_ignored(entry.path) &&
         !findings_->ignore().may_hold_exceptions(entry.path))) {
      continue;
    }
    if (findings_->is_file(entry.path + "/__init__.py") ||
        (namespaces && holds_python(entry.path))) {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> PackageDraft::top_level_modules() const {
  std::vector<std::string> names;
  for (const auto& entry : findings_->tree().list("")) {
    if (entry.type == EntryType::file && entry.path.ends_with(".py")) {
      const std::string name = entry.path.substr(0, entry.path.size() - 3);
      if (is_identifier(name) && !is_reserved(name) && !findings_->is_ignored(entry.path)) {
        names.push_back(name);
      }
    }
  }
  return names;
}

/// The package at `directory` and those below it.
void PackageDraft::add_stubs(const std::string& directory) {
  package.stub_packages.push_back(directory);
  for (const auto& entry : findings_->tree().list(directory)) {
    if (entry.type == EntryType::directory && is_identifier(base_name(entry.path)) &&
        !findings_->is_ignored(entry.path) &&
        (findings_->is_file(entry.path + "/__init__.py") ||
         (layout.namespaces && holds_python(entry.path)))) {
      add_stubs(entry.path);
    }
  }
}

void PackageDraft::place_found(const std::vector<std::string>& top_level) {
  // Looking by itself, setuptools refuses more than one package; the `.pth` makes all of them work.
  const bool stubs =
      layout.kind != Layout::Kind::automatic || !layout.root.empty() || top_level.size() == 1;
  for (const auto& name : top_level) {
    const std::string directory = join_path(layout.root, name);
    if (stubs) {
      add_stubs(directory);
    }
    if (layout.root.empty()) {
      package.code.push_back(directory);
    }
  }
  if (layout.kind == Layout::Kind::automatic && layout.root.empty() && top_level.empty()) {
    for (const auto& name : top_level_modules()) {
      package.code.push_back(name + ".py");
    }
  }
}

void PackageDraft::place_listed() {
  for (const auto& dotted : layout.packages) {
    const std::string directory = join_path(layout.root, replace_all(dotted, ".", "/"));
    const auto normal = source::normalise(directory);
    if (!normal || normal->empty()) {
      continue;
    }
    if (!findings_->is_directory(*normal)) {
      findings_->error(
          fmt::format("the package directory `{}` does not exist", printable(directory)),
          layout.origin, Findings::suggest(*normal, top_level_packages()));
      continue;
    }
    findings_->require_included(*normal, "a package of " + layout.origin);
    package.stub_packages.push_back(*normal);
    package.code.push_back(join_path(layout.root, split(dotted, '.').front()));
  }
  for (const auto& dotted : layout.modules) {
    const std::string file = join_path(layout.root, replace_all(dotted, ".", "/") + ".py");
    if (!findings_->is_file(file)) {
      findings_->error(fmt::format("the module `{}` does not exist", printable(file)),
                       layout.origin);
      continue;
    }
    findings_->require_included(file, "a module of " + layout.origin);
    package.code.push_back(dotted.find('.') == std::string::npos ? file : parent_path(file));
  }
}

Package PackageDraft::finish() {
  if (layout.kind == Layout::Kind::automatic && layout.root.empty() &&
      findings_->is_directory("src") && !findings_->is_file("src/__init__.py")) {
    layout.root = "src";
  }
  if (layout.kind == Layout::Kind::listed) {
    place_listed();
  } else {
    place_found(top_level_packages());
  }
  package.import_root = layout.root;
  if (!layout.root.empty() && findings_->is_directory(layout.root)) {
    package.code = {layout.root};
  }
  if (whole_tree_) {
    package.code = {"."};
  }
  for (const char* const pattern : {"LICEN[CS]E*", "COPYING*", "NOTICE*", "AUTHORS*"}) {
    add_matches(pattern);
  }
  sort_unique(package.metadata_files);
  sort_unique(package.stub_packages);
  sort_unique(package.code);
  return package;
}

std::optional<Package> read_package(Findings& findings) {
  PackageDraft draft{findings};
  const bool has_setup_py = findings.is_file("setup.py");
  bool has_setup_cfg = findings.is_file("setup.cfg");
  if (has_setup_cfg) {
    const Ini ini = parse_ini(findings.tree().read(findings.follow("setup.cfg").entry.path));
    has_setup_cfg = ini.contains("metadata") || ini.contains("options");
  }
  const bool has_pyproject = findings.is_file("pyproject.toml");
  const bool builds = has_pyproject && read_pyproject(draft);
  if (!builds && !has_setup_py && !has_setup_cfg) {
    return std::nullopt;
  }
  if (draft.package.backend.empty()) {
    draft.package.backend = "setuptools.build_meta:__legacy__";
  }
  if (draft.package.backend.starts_with("setuptools")) {
    read_setuptools(draft, has_setup_py, has_setup_cfg);
  }
  draft.package.needs_pyproject = !has_setup_py && !has_pyproject;
  for (const char* const file : {"setup.py", "setup.cfg", "pyproject.toml"}) {
    if (findings.is_file(file) && findings.require_included(file, "which describes the package")) {
      draft.add_file(file, "", false);
    }
  }
  draft.add_file("MANIFEST.in", "", false);
  return draft.finish();
}

}  // namespace autopack::project
