#include "project/package/package.hpp"

#include "base/contains.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "project/package/version_control.hpp"
#include "project/tables/python_names.hpp"
#include "python/name.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

bool describes_package(Findings& findings) {
  if (!findings.is_file("setup.cfg")) {
    return false;
  }
  const Ini ini = parse_ini(findings.tree().read(findings.follow("setup.cfg").entry.path));
  return ini.contains("metadata") || ini.contains("options");
}

}  // namespace

bool Package::is_called(const std::optional<std::string>& distribution) const {
  return name && distribution == python::normalise_name(*name);
}

bool is_reserved_name(std::string_view name) {
  static constexpr std::array<std::string_view, 41> reserved{
      "ci",         "bin",        "debian",        "doc",       "docs",        "documentation",
      "manpages",   "news",       "newsfragments", "changelog", "test",        "tests",
      "unit_test",  "unit_tests", "example",       "examples",  "scripts",     "tools",
      "util",       "utils",      "python",        "build",     "benchmark",   "benchmarks",
      "exercise",   "exercises",  "htmlcov",       "setup",     "conftest",    "toxfile",
      "noxfile",    "pavement",   "dodo",          "tasks",     "fabfile",     "site_scons",
      "SConstruct", "sconstruct", "conanfile",     "manage",    "node_modules"};
  return name.starts_with('_') || contains(reserved, name);
}

std::vector<std::string> discovered_packages(const Findings& findings) {
  std::vector<std::string> packages;
  std::vector<std::string> modules;
  for (const auto& entry : findings.tree().list("")) {
    const bool is_directory = entry.type == source::EntryType::directory;
    const std::string name = is_directory || !entry.path.ends_with(".py")
                                 ? entry.path
                                 : entry.path.substr(0, entry.path.size() - 3);
    if (!is_identifier(name) || is_reserved_name(name) || findings.is_ignored(entry.path)) {
      continue;
    }
    if (is_directory && findings.is_file(entry.path + "/__init__.py")) {
      packages.push_back(name);
    } else if (!is_directory && name != entry.path) {
      modules.push_back(name);
    }
  }
  return packages.empty() ? modules : packages;
}

std::vector<std::string> refused_by_setuptools(const Findings& findings) {
  constexpr std::size_t most_files{200};
  static constexpr std::array<std::string_view, 7> counted{".py",   ".yaml", ".yml", ".json",
                                                           ".toml", ".cfg",  ".sh"};
  std::vector<std::string> packages;
  std::vector<std::string> modules;
  for (const auto& entry : findings.tree().list("")) {
    const bool is_directory = entry.type == source::EntryType::directory;
    const bool is_module = entry.type == source::EntryType::file && entry.path.ends_with(".py");
    const auto name = is_module ? entry.path.substr(0, entry.path.size() - 3) : entry.path;
    if ((!is_directory && !is_module) || !is_identifier(name) || is_reserved_name(name) ||
        findings.is_ignored(entry.path)) {
      continue;
    }
    if (is_module) {
      modules.push_back(name);
      continue;
    }
    // Data alone may be excluded from the image.
    const auto files = findings.files_below(entry.path, most_files);
    if (std::ranges::any_of(files, [&](const std::string& file) {
          return std::ranges::any_of(counted,
                                     [&](const auto suffix) { return file.ends_with(suffix); });
        })) {
      packages.push_back(name);
    }
  }
  auto& found = packages.empty() ? modules : packages;
  return found.size() > 1 ? std::move(found) : std::vector<std::string>{};
}

std::optional<Package> read_package(Findings& findings, const Request& request) {
  Package package;
  const bool has_setup_py = findings.is_file("setup.py");
  const bool has_setup_cfg = describes_package(findings);
  const bool has_pyproject = findings.is_file("pyproject.toml");
  const bool builds = has_pyproject && read_pyproject(findings, request, package);
  if (!builds && !has_setup_py && !has_setup_cfg) {
    return std::nullopt;
  }
  if (package.backend.empty()) {
    package.backend = "setuptools.build_meta:__legacy__";
  }
  if (package.backend.starts_with("setuptools")) {
    read_setuptools(findings, package);
  }
  if (package.version_control && package.installs) {
    pin_version(findings, request.versions, package);
  }
  if (package.import_root.empty() && findings.is_directory("src") &&
      !findings.is_file("src/__init__.py")) {
    package.import_root = "src";
  }
  package.needs_pyproject = !has_setup_py && !has_pyproject;
  for (const char* const file : {"pyproject.toml", "setup.cfg", "setup.py"}) {
    if (findings.is_file(file) && findings.require_included(file, "which describes the package")) {
      package.files.emplace_back(file);
    }
  }
  return package;
}

}  // namespace autopack::project
